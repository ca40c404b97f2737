#!/usr/bin/env bash
# Fetches the data sets that the programs know by name.
set -uo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")") || exit 1
readonly here
readonly all_sets=(mnist fashion-mnist cifar10 wholesale)

usage() {
  cat <<END
datasets/download.sh [OPTIONS] [SET...]

Fetches data sets: ${all_sets[*]}; all of them [default].

  --dir DIR         folder for the data [the folder of this script]
  --base-url URL    fetch URL/SET/FILE instead of from the known hosts; given several times, each is
                    tried in turn
  --checksums FILE  lines of SHA-256 and SET/FILE [checksums.txt beside this script]
  --help            print this text

A file that is there and whole is left alone, one that is there in part is continued, one whose
checksum is wrong is removed. Where no checksum is known, that of the first download is written to
DIR/first-download.txt, and later downloads must agree with it.

Exit status: 0 all there; 1 something could not be fetched or is wrong; 2 wrong usage.
END
}

fail() {
  echo "download.sh: $2" >&2
  exit "$1"
}

# --------------------------------------------------------------------------------------------------
# Where the files are

# mirrors SET FILE: the addresses of a file, one a line.
mirrors() {
  local base
  if [[ ${#base_urls[@]} -gt 0 ]]; then
    for base in "${base_urls[@]}"; do echo "${base%/}/$1/$2"; done
    return
  fi
  case $1 in
    mnist)
      echo "https://ossci-datasets.s3.amazonaws.com/mnist/$2"
      echo "https://storage.googleapis.com/cvdf-datasets/mnist/$2"
      ;;
    fashion-mnist)
      echo "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/$2"
      echo "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/$2"
      ;;
    cifar10) echo "https://www.cs.toronto.edu/~kriz/$2" ;;
    wholesale)
      echo "https://archive.ics.uci.edu/ml/machine-learning-databases/00292/Wholesale%20customers%20data.csv"
      ;;
  esac
}

# files SET: the names under which its files are kept, one a line.
files() {
  case $1 in
    mnist | fashion-mnist)
      printf '%s\n' {train-images-idx3,train-labels-idx1,t10k-images-idx3,t10k-labels-idx1}-ubyte.gz
      ;;
    cifar10) echo cifar-10-binary.tar.gz ;;
    wholesale) echo wholesale-customers.csv ;;
  esac
}

# --------------------------------------------------------------------------------------------------
# Checksums

sha256() {
  if type -P sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

# known_sum NAME: the sum that a list has for a name, if any has one.
known_sum() {
  local list
  for list in "$checksums" "$dir/first-download.txt"; do
    [[ -f $list ]] && awk -v name="$1" '$2 == name { print $1; exit }' "$list"
  done | head -n 1
}

# verify NAME FILE: whether a file is what the sum for NAME, or for its contents, says.
verify() {
  local expected found what=$1
  expected=$(known_sum "$1")
  if [[ -n $expected ]]; then
    found=$(sha256 <"$2")
  elif [[ $1 == *.gz ]]; then
    what=${1%.gz}
    expected=$(known_sum "$what")
    if [[ -n $expected ]]; then
      # A file that is cut short may have given all its contents before gzip notices.
      found=$(gzip -dc <"$2" 2>/dev/null | sha256) || found="that of a damaged file"
    fi
  fi
  if [[ -z $expected ]]; then
    # At least no error page of some proxy.
    if [[ $1 == wholesale/* && $(head -c 14 "$2") != Channel,Region ]]; then
      reason="it does not begin with the names of the columns Channel,Region"
      return 1
    fi
    found=$(sha256 <"$2")
    echo "$found  $1" >>"$dir/first-download.txt"
    echo "  no checksum is known; that of this first download was written to $dir/first-download.txt"
    return 0
  fi
  [[ $found == "$expected" ]] && return 0
  reason="the SHA-256 of $what is $found, but $expected was expected"
  return 1
}

# --------------------------------------------------------------------------------------------------
# Fetching

# fetch URL FILE: 0 if the rest of the file came; else a reason. What is there is continued.
fetch() {
  local code=0
  if type -P curl >/dev/null; then
    reason=$(curl --fail --location --silent --show-error --connect-timeout 20 --speed-limit 1000 \
      --speed-time 60 --continue-at - --output "$2" "$1" 2>&1) || code=$?
    # The server cannot continue, or has nothing more to send: begin again.
    if [[ ($code -eq 33 || $code -eq 22 && $reason == *416*) && -s $2 ]]; then
      rm -f "$2"
      fetch "$1" "$2"
      return
    fi
    case $code in
      6) reason="the host's name could not be found" ;;
      7) reason="the host could not be reached" ;;
      28) reason="the host did not answer in time" ;;
    esac
  else
    wget --quiet --timeout=20 --tries=1 --continue --output-document="$2" "$1" || code=$?
    reason="wget ended with exit code $code"
    [[ $code -ne 4 ]] || reason="the host could not be reached"
  fi
  return "$code"
}

# get SET FILE: fetches a file from the first mirror that has it as it should be.
get() {
  local name=$1/$2 target=$dir/$1/$2 url part tried=""
  if [[ -f $target ]]; then
    if verify "$name" "$target"; then
      echo "$name is there"
      return 0
    fi
    echo "$name is there, but $reason: it is fetched again"
    rm -f "$target"
  fi
  mkdir -p "$dir/$1" 2>/dev/null || fail 1 "cannot make the folder $dir/$1"
  part=$target.part
  while read -r url; do
    echo "$name from $url"
    # What another mirror, or an earlier day, left behind may not fit: then once more from the start.
    local again=no
    [[ -s $part ]] && again=yes
    while fetch "$url" "$part"; do
      if verify "$name" "$part"; then
        mv "$part" "$target"
        return 0
      fi
      rm -f "$part"
      [[ $again == yes ]] || break
      again=no
    done
    echo "  no: $reason"
    tried+="${tried:+; }$url: $reason"
  done < <(mirrors "$1" "$2")
  echo "download.sh: $name could not be fetched ($tried); is this machine online?" >&2
  return 1
}

cifar10_is_unpacked() {
  local file folder=$dir/cifar10/cifar-10-batches-bin
  for file in "$folder"/{data_batch_{1,2,3,4,5},test_batch}.bin; do
    [[ -f $file && $(wc -c <"$file") -eq 30730000 ]] || return 1
  done
}

# get_set SET
get_set() {
  local file
  if [[ $1 == cifar10 ]] && cifar10_is_unpacked; then
    echo "cifar10/cifar-10-batches-bin is there"
    return 0
  fi
  for file in $(files "$1"); do get "$1" "$file" || return 1; done
  if [[ $1 == cifar10 ]]; then
    echo "cifar10: unpacking"
    tar -xzf "$dir/cifar10/cifar-10-binary.tar.gz" -C "$dir/cifar10" ||
      fail 1 "$dir/cifar10/cifar-10-binary.tar.gz could not be unpacked"
  fi
}

# --------------------------------------------------------------------------------------------------

dir=$here
checksums=$here/checksums.txt
base_urls=()
sets=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage && exit 0 ;;
    --dir | --base-url | --checksums)
      [[ $# -ge 2 && -n $2 ]] || fail 2 "$1 needs a value"
      case $1 in
        --dir) dir=$2 ;;
        --base-url) base_urls+=("$2") ;;
        --checksums) checksums=$2 ;;
      esac
      shift
      ;;
    -*) fail 2 "$1 is not an option; --help lists what is" ;;
    *)
      [[ " ${all_sets[*]} " == *" $1 "* ]] ||
        fail 2 "$1 is not a data set that can be fetched; those are ${all_sets[*]}"
      sets+=("$1")
      ;;
  esac
  shift
done
[[ ${#sets[@]} -gt 0 ]] || sets=("${all_sets[@]}")
[[ -f $checksums ]] || fail 1 "there is no list of checksums $checksums"
type -P curl >/dev/null || type -P wget >/dev/null || fail 1 "neither curl nor wget is there: sudo apt install curl"

reason=""
failed=()
for set in "${sets[@]}"; do
  get_set "$set" || failed+=("$set")
done
[[ ${#failed[@]} -eq 0 ]] || fail 1 "not complete: ${failed[*]}"
echo "All there, in $dir: ${sets[*]}"
