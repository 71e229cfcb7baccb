#!/usr/bin/env bash
# The hash of every logit of one 128-token text, over instruction sets, thread counts, ways to read the prompt, batches, compilers, build types and
# devices. One hash is expected, and it is committed (same_bits.sha256), so that another machine is compared with the one that made it.
#   same_bits.sh MODEL NAME=PROGRAM…     the first program runs everything, the others what differs in them: their compiler
# What this machine cannot run is named and counted. Exit code 0 only if every row that ran has the committed hash.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
model=$1
shift
ids=$here/../golden/logits/english.ids
expected=$(awk '$2 == "logits-128" { print $1 }' "$here/same_bits.sha256")
expected_start=$(awk '$2 == "logits-8" { print $1 }' "$here/same_bits.sha256")
equal=0 different=0 skipped=0

# row NAME PROGRAM ISA THREADS "how it reads" EXPECTED ARGS…
row() {
  local name=$1 program=$2 isa=$3 threads=$4 how=$5 want=$6
  shift 6
  local hash start=$EPOCHREALTIME spent verdict
  hash=$(VOTIVE_ISA=$isa "$program" logits "$model" --ids "$ids" --threads "$threads" --output - "$@" 2> /tmp/same_bits.$$.err | sha256sum | cut -c1-64)
  spent=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  if [[ $hash == "$want" ]]; then
    verdict=equal
    equal=$((equal + 1))
  else
    verdict="DIFFERENT $(head -c 300 /tmp/same_bits.$$.err)"
    different=$((different + 1))
  fi
  printf '  %-8s %-11s %7s  %-26s %s…  %6s s  %s\n' "$name" "${isa:-its own}" "$threads" "$how" "${hash:0:16}" "$spent" "$verdict"
}

# sets PROGRAM: every instruction set, "NAME ok" or "NAME why it cannot be run".
sets() {
  "$1" verify --list-instruction-sets
}

printf '  %-8s %-11s %7s  %-26s %s\n' build "instr. set" threads "prompt read" "SHA-256 of all logits"
first=
for pair in "$@"; do
  name=${pair%%=*} program=${pair#*=}
  if [[ -z $first ]]; then
    first=$pair
    while read -r isa state; do
      if [[ $state != ok ]]; then
        printf '  %-8s %-11s %7s  not run here: %s\n' "$name" "$isa" - "$state"
        skipped=$((skipped + 1))
        continue
      fi
      for threads in 1 2 3; do
        row "$name" "$program" "$isa" "$threads" "128 at once" "$expected" --first 128
      done
    done < <(sets "$program")
    row "$name" "$program" "" 2 "pieces of 7" "$expected" --first 128 --piece 7
    row "$name" "$program" "" 2 "token by token" "$expected" --first 128 --piece 1
    row "$name" "$program" "" 1 "beside three other texts" "$expected" --first 128 --batch 4
    row "$name" "$program" "" 2 "weights as in the file" "$expected" --first 128 --no-prepack
    row "$name" "$program" "" 1 "8 tokens, device cpu" "$expected_start" --first 8
    row "$name" "$program" "" 1 "8 tokens, device reference" "$expected_start" --first 8 --device reference
  else
    row "$name" "$program" "" 1 "128 at once" "$expected" --first 128
    row "$name" "$program" "" 2 "pieces of 7" "$expected" --first 128 --piece 7
  fi
done
rm -f /tmp/same_bits.$$.err
printf '\n%d rows equal, %d different, %d instruction sets not on this machine\n' "$equal" "$different" "$skipped"
((different == 0 && equal > 0))
