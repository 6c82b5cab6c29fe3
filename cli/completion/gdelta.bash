# bash completion for gdelta
_gdelta() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="compress decompress test list cat bench devices help"
  local types="i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64"
  local common="-h --help -q --quiet -v --verbose"
  local machine="-T --threads --device"
  local files="-o --output -c --stdout -f --force --rm -k --keep"
  local encode="-1 -2 -3 -4 -5 -6 -7 -8 -9 --type --tuple --record --order --coder --chunk --device-decodable"

  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$commands -d -h --help -V --version" -- "$cur"))
    return
  fi

  case $prev in
    --type) COMPREPLY=($(compgen -W "$types" -- "$cur")); return ;;
    --coder) COMPREPLY=($(compgen -W "raw pack zstd" -- "$cur")); return ;;
    --device) COMPREPLY=($(compgen -W "auto cpu cuda" -- "$cur")); return ;;
    --peers) COMPREPLY=($(compgen -W "zstd zstd-1 zstd-3 zstd-9 zstd-19" -- "$cur")); return ;;
    --unit) COMPREPLY=($(compgen -W "bytes records" -- "$cur")); return ;;
    --order) COMPREPLY=($(compgen -W "0 1 2 3 4 5 6 7 8" -- "$cur")); return ;;
    --chunk) COMPREPLY=($(compgen -W "64K 256K 1M 4M 16M" -- "$cur")); return ;;
    -M | --memory) COMPREPLY=($(compgen -W "512M 1G 4G 16G" -- "$cur")); return ;;
    --tuple | --record | --range | -T | --threads) return ;;
    -o | --output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac

  local options=
  case ${COMP_WORDS[1]} in
    compress) options="$common $machine $files $encode" ;;
    decompress | -d) options="$common $machine $files -M --memory --salvage" ;;
    test) options="$common $machine -M --memory" ;;
    list) options="$common -M --memory --json" ;;
    cat) options="$common $machine -M --memory --range --unit" ;;
    bench) options="$common $machine $encode --peers --json --csv" ;;
    devices) COMPREPLY=($(compgen -W "-h --help" -- "$cur")); return ;;
    help) COMPREPLY=($(compgen -W "$commands" -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi

  compopt -o filenames 2>/dev/null
  case ${COMP_WORDS[1]} in
    decompress | -d | test | list | cat)
      local IFS=$'\n'
      COMPREPLY=($(compgen -f -X '!*.gdz' -- "$cur") $(compgen -d -- "$cur")) ;;
    *)
      local IFS=$'\n'
      COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _gdelta gdelta
