# bash completion for gdelta, ungdelta and gdcat

# What the line asks for: its command, or the last of -z -d -t -l, or what the program's name says.
_gdelta_mode() {
  local word mode=
  case ${COMP_WORDS[0]##*/} in
    ungdelta | gdcat) mode=decompress ;;
    *)
      case ${COMP_WORDS[1]} in
        test | list | cat | bench | devices | help) echo "${COMP_WORDS[1]}"; return ;;
        compress | decompress) mode=${COMP_WORDS[1]} ;;
      esac ;;
  esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      --compress) mode=compress ;;
      --decompress) mode=decompress ;;
      --test) mode=test ;;
      --list) mode=list ;;
      --*) ;;
      -*d*) mode=decompress ;;
      -*t*) mode=test ;;
      -*l*) mode=list ;;
      -*z*) mode=compress ;;
    esac
  done
  echo "$mode"
}

_gdelta() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="compress decompress test list cat bench devices help"
  local types="i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64"
  local common="-h --help -V --version -q --quiet -v --verbose"
  local machine="-T --threads --device"
  local inputs="-r --recursive --filelist --filelist0"
  local files="$inputs -o --output --output-dir -c --stdout -f --force --rm -k --keep"
  local levels="-1 -2 -3 -4 -5 -6 -7 -8 -9 --level --best --fast"
  local encode="$levels --type --tuple --record --order --coder --chunk --meta --device-decodable"
  local decode="-M --memory --max-output --salvage --fill --no-sparse"
  local modes="-z --compress -d --decompress -t --test -l --list"

  # "--type=i16" comes as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  case $prev in
    --type) COMPREPLY=($(compgen -W "$types" -- "$cur")); return ;;
    --coder) COMPREPLY=($(compgen -W "raw pack zstd" -- "$cur")); return ;;
    --device) COMPREPLY=($(compgen -W "auto cpu cuda" -- "$cur")); return ;;
    --peers) COMPREPLY=($(compgen -W "zstd zstd-1 zstd-3 zstd-9 zstd-19" -- "$cur")); return ;;
    --unit) COMPREPLY=($(compgen -W "bytes records" -- "$cur")); return ;;
    --level) COMPREPLY=($(compgen -W "1 2 3 4 5 6 7 8 9" -- "$cur")); return ;;
    --order) COMPREPLY=($(compgen -W "0 1 2 3 4 5 6 7 8" -- "$cur")); return ;;
    --chunk) COMPREPLY=($(compgen -W "64K 256K 1M 4M 16M" -- "$cur")); return ;;
    -M | --memory | --max-output) COMPREPLY=($(compgen -W "512M 1G 4G 16G" -- "$cur")); return ;;
    --tuple | --record | --range | -T | --threads) return ;;
    -o | --output | --filelist | --filelist0) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    --output-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
  esac

  local mode options
  mode=$(_gdelta_mode)
  case $mode in
    compress) options="$common $machine $files $encode -M --memory" ;;
    decompress) options="$common $machine $files $decode" ;;
    test) options="$common $machine $inputs -M --memory --max-output" ;;
    list) options="$common $inputs -M --memory --json --why" ;;
    cat) options="$common $machine -M --memory --max-output --range --unit" ;;
    bench) options="$common $machine $encode --peers --json --csv" ;;
    devices) options="-h --help -V --version" ;;
    help) COMPREPLY=($(compgen -W "$commands" -- "$cur")); return ;;
    *) options="$modes $common $machine $files $encode $decode" ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi

  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  case $mode in
    devices) ;;
    compress) COMPREPLY=($(compgen -f -X '*.gdz' -- "$cur")) ;;
    decompress | test | list | cat)
      COMPREPLY=($(compgen -f -X '!*.gdz' -- "$cur") $(compgen -d -- "$cur")) ;;
    "")
      if ((COMP_CWORD == 1)); then COMPREPLY=($(IFS=' '; compgen -W "$commands" -- "$cur")); fi
      COMPREPLY+=($(compgen -f -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -F _gdelta gdelta ungdelta gdcat
