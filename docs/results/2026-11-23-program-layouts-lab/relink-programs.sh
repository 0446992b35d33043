#!/bin/sh
# Links three programs of Debian in orders of functions made from traces of some inputs, and records them again on
# others. Each input is left out of the training once.
#
#     cargo build --release -p norn-lab
#     sh docs/results/2026-11-23-program-layouts-lab/relink-programs.sh [INSTRUCTIONS [LINKER]]
#
# Takes gcc, make, gold (or lld, as LINKER), valgrind, and on the first run the archive of Debian, whose list of sources is kept in a
# directory of its own. The inputs are those of tools/record-programs. Works in ./relink-programs,
# or ./relink-programs-lld.
set -eu
repository=$(cd "$(dirname "$0")/../../.." && pwd)
lab=$repository/target/release/norn-lab
instructions=${1:-2000000} linker=${2:-gold}
case $linker in
gold) work=relink-programs ordering=-Wl,--section-ordering-file ;;
lld) work=relink-programs-lld ordering=-Wl,--no-warn-symbol-ordering,--symbol-ordering-file ;;
*) echo "$linker: gold or lld" >&2; exit 1 ;;
esac
mkdir -p $work/lists/partial
cd $work

if ! [ -e sources.list ]; then
    echo 'deb-src http://deb.debian.org/debian bookworm main' > sources.list
    from="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
    # shellcheck disable=SC2086 # one word an option
    { apt-get $from update && apt-get $from source --download-only gzip m4 mawk; } >&2
fi

link="-fuse-ld=$linker -Wl,-O1"
for program in gzip m4 mawk; do
    [ -d $program ] && continue
    mkdir $program
    tar xf $program\_*.orig.tar.[gx]z -C $program --strip-components=1
    (cd $program && CFLAGS="-O2 -ffunction-sections" LDFLAGS="$link" ./configure --disable-nls && make) > $program.log 2>&1
done

# executable PROGRAM: where make leaves it.
executable() { case $1 in m4) echo m4/src/m4 ;; *) echo "$1/$1" ;; esac; }
# relinked PROGRAM OUT [LINK-OPTION]
relinked() {
    [ -e "$2" ] && return 0
    rm "$(executable "$1")"
    make -C "$1" LDFLAGS="$link ${3:-}" >> "$1.log" 2>&1
    cp "$(executable "$1")" "$2"
}
record() { "$repository/tools/record-programs" "$1" "$instructions" "$2" "$3" "$4" >&2; }
costs() { "$lab" trace replay "$1" | sed -n 's/.* \([0-9]*\) misses, \([0-9]*\) loads.*/\2 \1/p'; }

echo "program input loads misses before, loads misses after"
for program in gzip m4 mawk; do
    relinked $program $program-before
    record before $program $program-before ""
    for trace in before/$program/*.runs.zst; do
        input=$(basename "$trace" .runs.zst)
        training=$(ls before/$program/*.runs.zst | grep -v "/$input.runs")
        order=$PWD/$program-without-$input.order
        # shellcheck disable=SC2086 # one word a trace
        [ -e "$order" ] || "$lab" trace layout --linker $linker --program $program-before --out "$order" $training >&2
        relinked $program "$program-without-$input" "$ordering,$order"
        record "after" $program "$program-without-$input" "$input"
        echo "$program $input $(costs "$trace"), $(costs "after/$program/$input.runs.zst")"
    done
done
