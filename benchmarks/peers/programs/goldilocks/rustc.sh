#!/bin/sh
# Stands between Cargo and rustc for the sake of one crate: the AVX-512 code of boojum 0.32.11 hands pointers to bytes
# to gathers and scatters, which since Rust 1.89 take pointers to elements. It is compiled from a copy that casts them.
rustc=$1
shift
case " $* " in
*" --crate-name boojum "*)
    previous= out= count=$#
    for argument; do
        [ "$previous" = --out-dir ] && out=$argument
        previous=$argument
    done
    while [ "$count" -gt 0 ]; do
        argument=$1
        shift
        case $argument in
        */src/lib.rs)
            copy=$out/boojum-src
            rm -rf "$copy" && cp -R "${argument%/lib.rs}" "$copy" || exit
            sed -i 's/self\.0\.as_ptr() as \*\(const\|mut\) u8/self.0.as_ptr().cast_mut().cast()/' \
                "$copy/field/goldilocks/avx512_impl.rs" || exit
            argument=$copy/lib.rs
            ;;
        esac
        set -- "$@" "$argument"
        count=$((count - 1))
    done
    ;;
esac
exec "$rustc" "$@"
