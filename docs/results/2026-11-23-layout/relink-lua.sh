#!/bin/sh
# Links Debian's lua5.4 in an order of functions made from traces of some inputs, and records it again on all of them.
# Each input is left out of the training once.
#
#     cargo build --release -p norn-lab
#     sh docs/results/2026-11-23-layout/relink-lua.sh target/release/norn-lab [INSTRUCTIONS]
#
# Takes gcc, gold, valgrind, and on the first run the archive of Debian, whose list of sources is kept in a directory of
# its own. Works in ./relink-lua.
set -eu
lab=$(realpath "$1")
instructions=${2:-4000000}
mkdir -p relink-lua/lists/partial
cd relink-lua

if ! [ -d source ]; then
    echo 'deb-src http://deb.debian.org/debian bookworm main' > sources.list
    from="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists"
    # shellcheck disable=SC2086 # one word an option
    { apt-get $from update && apt-get $from source --download-only lua5.4; } >&2
    tar xzf lua5.4_*.orig.tar.gz
    mv lua-5.4.* source
fi

link() {
    out=$1
    shift
    [ -e "$out" ] || gcc -O2 -ffunction-sections -fuse-ld=gold -DLUA_USE_POSIX -o "$out" objects/*.o "$@" -lm
}
if ! [ -d objects ]; then
    mkdir objects
    for file in source/src/l*.c; do
        case $file in */luac.c) continue ;; esac
        gcc -O2 -ffunction-sections -DLUA_USE_POSIX -c -o "objects/$(basename "$file" .c).o" "$file"
    done
fi
link before

cat > words.lua <<'LUA'
local counts, text = {}, string.rep("the quick brown fox jumps over the lazy dog and runs ", 40)
for word in text:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
local names = {}
for word, n in pairs(counts) do names[#names + 1] = ("%-8s %4d"):format(word:upper(), n) end
table.sort(names)
print(table.concat(names, "\n"))
print((text:gsub("(%a+) (%a+)", "%2 %1"):sub(1, 60)))
LUA
cat > objects.lua <<'LUA'
local Account = {}
Account.__index = Account
Account.__add = function(a, b) return setmetatable({balance = a.balance + b.balance}, Account) end
function Account.new(n) return setmetatable({balance = n, log = {}}, Account) end
function Account:deposit(n)
  if n < 0 then error("negative") end
  self.balance = self.balance + n
  self.log[#self.log + 1] = n
end
local all = {}
for i = 1, 300 do
  local a = Account.new(i)
  for j = 1, 5 do pcall(a.deposit, a, j - 2) end
  all[#all + 1] = a
end
local sum = Account.new(0)
for _, a in ipairs(all) do sum = sum + a end
print(sum.balance)
LUA
cat > numbers.lua <<'LUA'
local function each(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
local sieve, primes = {}, {}
for i in each(400) do
  if i > 1 and not sieve[i] then
    primes[#primes + 1] = i
    for j = i * i, 400, i do sieve[j] = true end
  end
end
local x = 0
for _, p in ipairs(primes) do x = x + math.sqrt(p) * (p // 3) % 7 ~ (p & 5) < 9 and p ^ 0.5 or tonumber(tostring(p)) end
print(x, #primes, string.pack("<i4d", 7, x):byte(1, -1))
LUA
cat > parse.lua <<'LUA'
local parts = {}
for i = 1, 60 do parts[i] = ("local function f%d(a, b) if a > b then return a * %d else return {b, x = a} end end"):format(i, i) end
for i = 1, 5 do assert(load(table.concat(parts, "\n") .. "\nreturn f" .. i)) end
local f = load("return function(n) local t = {} for i = 1, n do t[i] = i .. '' end return table.unpack(t) end")()
print(select("#", f(100)))
LUA

inputs="words objects numbers parse"
record() { [ -e "$1-$2.runs.zst" ] || "$lab" trace record --instructions "$instructions" --out "$1-$2.runs.zst" -- "./$1" "$2.lua" >/dev/null 2>&1; }
loads() { "$lab" trace replay "$1-$2.runs.zst" | sed -n 's/.* \([0-9]*\) misses, \([0-9]*\) loads.*/\2 \1/p'; }
for input in $inputs; do record before "$input"; done
echo "input loads misses before, loads misses after"
for input in $inputs; do
    training=
    for other in $inputs; do [ "$other" = "$input" ] || training="$training before-$other.runs.zst"; done
    # shellcheck disable=SC2086 # one word a trace
    [ -e "without-$input.order" ] || "$lab" trace layout --program before --out "without-$input.order" $training >&2
    link "without-$input" "-Wl,--section-ordering-file,without-$input.order"
    record "without-$input" "$input"
    echo "$input $(loads before "$input"), $(loads "without-$input" "$input")"
done
