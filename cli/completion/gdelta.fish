# fish completion for gdelta, ungdelta and gdcat
set -l commands compress decompress test list cat bench devices help
set -l none "not __fish_seen_subcommand_from $commands"
set -l packed decompress -d --decompress test -t --test list cat

complete -c ungdelta -w gdelta
complete -c gdcat -w gdelta

complete -c gdelta -f
complete -c gdelta -n $none -a compress -d "Make FILE.gdz from FILE"
complete -c gdelta -n $none -a decompress -d "Make FILE from FILE.gdz"
complete -c gdelta -n $none -a test -d "Check that files decode"
complete -c gdelta -n $none -a list -d "Show what files hold"
complete -c gdelta -n $none -a cat -d "Write a part of a file to stdout"
complete -c gdelta -n $none -a bench -d "Measure size, speed and memory on files"
complete -c gdelta -n $none -a devices -d "List the devices there are"
complete -c gdelta -n $none -a help -d "Tell more about a command"
complete -c gdelta -n $none -s z -l compress -d "Compress"
complete -c gdelta -n $none -s d -l decompress -d "Decompress"
complete -c gdelta -n $none -s t -l test -d "Check that files decode"
complete -c gdelta -n $none -s l -l list -d "Show what files hold"
complete -c gdelta -s V -l version -d "Print the version"
complete -c gdelta -s h -l help -d "Print help"

complete -c gdelta -n "not __fish_seen_subcommand_from $packed devices help" -F
complete -c gdelta -n "__fish_seen_subcommand_from $packed" -k -a "(__fish_complete_suffix .gdz)"
complete -c gdelta -n "__fish_seen_subcommand_from help" -a "$commands"

set -l quiet "__fish_seen_subcommand_from compress -z --compress bench $packed"
complete -c gdelta -n $quiet -s q -l quiet -d "Errors alone; twice: nothing"
complete -c gdelta -n $quiet -s v -l verbose -d "Say more"

set -l machine "__fish_seen_subcommand_from compress -z --compress decompress -d --decompress test -t --test cat bench"
complete -c gdelta -n $machine -s T -l threads -x -d "CPU threads"
complete -c gdelta -n $machine -l device -x -a "auto cpu cuda" -d "Where the work is done"

set -l limited "__fish_seen_subcommand_from compress -z --compress $packed"
complete -c gdelta -n $limited -s M -l memory -x -a "512M 1G 4G 16G" -d "Memory that the work may hold"
complete -c gdelta -n "__fish_seen_subcommand_from decompress -d --decompress test -t --test cat" -l max-output -x -a "1G 16G 1T" -d "Bytes that a file may decode to"

set -l files "__fish_seen_subcommand_from compress -z --compress decompress -d --decompress"
complete -c gdelta -n $files -s o -l output -r -F -d "Write to this file"
complete -c gdelta -n $files -l output-dir -x -a "(__fish_complete_directories)" -d "Write into this folder"
complete -c gdelta -n $files -s c -l stdout -d "Write to stdout"
complete -c gdelta -n $files -s f -l force -d "Overwrite files"
complete -c gdelta -n $files -l rm -d "Remove the input"
complete -c gdelta -n $files -s k -l keep -d "Keep the input"

set -l inputs "__fish_seen_subcommand_from compress -z --compress decompress -d --decompress test -t --test list"
complete -c gdelta -n $inputs -s r -l recursive -d "Take the files in folders"
complete -c gdelta -n $inputs -l filelist -r -F -d "Take the files that this file names"
complete -c gdelta -n $inputs -l filelist0 -r -F -d "The same, with a NUL after each name"

set -l restore "__fish_seen_subcommand_from decompress -d --decompress"
complete -c gdelta -n $restore -l salvage -d "Keep every whole chunk of a damaged file"
complete -c gdelta -n $restore -l fill -d "Zeros in the place of what is missing"
complete -c gdelta -n $restore -l no-sparse -d "Write zeros, leave no holes"

set -l encode "__fish_seen_subcommand_from compress -z --compress bench"
for level in 1 2 3 4 5 6 7 8 9
    complete -c gdelta -n $encode -o $level -d "Level $level"
end
complete -c gdelta -n $encode -l level -x -a "1 2 3 4 5 6 7 8 9" -d Level
complete -c gdelta -n $encode -l best -d "Level 9, the smallest"
complete -c gdelta -n $encode -l fast -d "Level 1, the fastest"
complete -c gdelta -n $encode -l type -x -a "i8 u8 i16 u16 i24 u24 i32 u32 i64 u64 f16 bf16 f32 f64" -d "Type of every value"
complete -c gdelta -n $encode -l tuple -x -d "Values that belong together"
complete -c gdelta -n $encode -l record -x -d "Columns of a record"
complete -c gdelta -n $encode -l order -x -a "0 1 2 3 4 5 6 7 8" -d "Times that differences are taken"
complete -c gdelta -n $encode -l coder -x -a "raw pack zstd" -d "Coder of every chunk"
complete -c gdelta -n $encode -l chunk -x -a "64K 256K 1M 4M 16M" -d "Bytes of a chunk"
complete -c gdelta -n $encode -l meta -x -d "Say something in the file"
complete -c gdelta -n $encode -l device-decodable -d "Promise a stream that decodes wholly on a GPU"

complete -c gdelta -n "__fish_seen_subcommand_from list" -l why -d "Show what other ways would have cost"
complete -c gdelta -n "__fish_seen_subcommand_from list bench" -l json -d "Print JSON"
complete -c gdelta -n "__fish_seen_subcommand_from bench" -l peers -x -a "zstd zstd-1 zstd-3 zstd-9 zstd-19" -d "Measure others too"
complete -c gdelta -n "__fish_seen_subcommand_from bench" -l csv -d "Print comma-separated values"
complete -c gdelta -n "__fish_seen_subcommand_from cat" -l range -x -d "Positions A:B to write"
complete -c gdelta -n "__fish_seen_subcommand_from cat" -l unit -x -a "bytes records" -d "What positions count"
