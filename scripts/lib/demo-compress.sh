# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/demo compress: the same training with gradients compressed in several ways,
# over wires that are slower than the CPU. Sourced by scripts/demo, which sets $fabric,
# $options, $workers and $top.
# shellcheck disable=SC2154

compress_modes=(dense 2:4/local 2:4 2:4+int8 int4)

# compress_train MODE ARGS...: the figures of rank 0 go into a file.
compress_train()
{
	local mode=$1 spec=()

	shift
	[[ $mode == dense ]] || spec=(--compress "$mode")
	"${fabric[@]}" run --fail-fast -- trib-train --task loud8 --samples 24576 --test 4096 \
		--batch 128 --epochs 4 "${spec[@]}" "$@" \
		--json "$compress_dir/${mode//\//,}.json" >/dev/null
}

compress_main()
{
	local mode files=()

	compress_dir=$(mktemp -d)
	"${fabric[@]}" up star --workers "$workers" --rate 200m "${options[@]}"
	picture
	heading "A perceptron of 126,088 parameters learns loud8, wires of 200 Mb/s"
	scripts/lib/demo-chart --head
	for mode in "${compress_modes[@]}"; do
		compress_train "$mode" "$@"
		files+=("$mode=$compress_dir/${mode//\//,}.json")
		scripts/lib/demo-chart --row "${files[0]}" "${files[-1]}"
	done
	heading "Loss against time"
	scripts/lib/demo-chart --chart "${files[@]}"
}
