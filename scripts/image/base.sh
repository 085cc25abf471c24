# The base of the images made from Debian's packages; scripts/images reads this file.
#
# need_base sets $base to the first of these that can be had: LOCKCHECK_IMAGE_BASE, a base made earlier, Debian's official
# slim image if the engine has it or can pull it, and else a base made with debootstrap.

need_base() {
    [ -z "${base:-}" ] || return 0
    local own=lockcheck/base:$debian official=debian:$debian-slim
    if [ -n "${LOCKCHECK_IMAGE_BASE:-}" ]; then
        has_image "$LOCKCHECK_IMAGE_BASE" || pull "$LOCKCHECK_IMAGE_BASE" ||
            die 69 "LOCKCHECK_IMAGE_BASE=$LOCKCHECK_IMAGE_BASE: the engine has no such image and cannot pull it: $(tail -n 1 "$scratch/pull")"
        base=$LOCKCHECK_IMAGE_BASE
    elif has_image "$own"; then
        base=$own
    elif has_image "$official" || pull "$official"; then
        base=$official
    else
        say "$official cannot be pulled: $(tail -n 1 "$scratch/pull")"
        bootstrap "$own"
        base=$own
    fi
    say "base: $base"
}

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# pull IMAGE: 0 if the engine could pull it. A registry that has not even answered with the image's manifest after
# 15 seconds counts as absent (the engine itself would wait for minutes); the download then may take 10 minutes.
pull() {
    local pid waited=0
    : >"$scratch/pull"
    timeout 600 docker pull "$1" >"$scratch/pull" 2>&1 &
    pid=$!
    until grep -q 'Pulling from' "$scratch/pull" || ! kill -0 "$pid" 2>/dev/null; do
        if [ $((waited += 1)) -gt 75 ]; then
            kill "$pid" 2>/dev/null || true
            wait "$pid" 2>/dev/null || true
            echo "the registry gave no answer in 15 s" >>"$scratch/pull"
            return 1
        fi
        sleep 0.2
    done
    wait "$pid"
}

# bootstrap NAME: a minimal Debian, made with debootstrap and imported as NAME.
bootstrap() {
    local root=$scratch/root mirror suite
    if [ "$(id -u)" != 0 ]; then
        die 69 "the base has to be made with debootstrap, which takes root. Run this as root, or let the engine have an image" \
            "debian:$debian-slim, or set LOCKCHECK_IMAGE_BASE to a Debian image that it has"
    fi
    if ! command -v debootstrap >/dev/null 2>&1; then
        command -v apt-get >/dev/null 2>&1 || die 69 "debootstrap is missing: install it, or set LOCKCHECK_IMAGE_BASE to a Debian image"
        say "installing debootstrap"
        run apt-get update -qq || die 69 "debootstrap is missing, and apt-get update failed"
        DEBIAN_FRONTEND=noninteractive run apt-get install -y -qq --no-install-recommends debootstrap debian-archive-keyring ||
            die 69 "debootstrap is missing, and apt-get could not install it"
    fi
    say "making a base with debootstrap (half a minute)"
    run debootstrap --arch="$arch" --variant=minbase "$debian" "$root" || die 1 "debootstrap failed"
    # The mirror that debootstrap chose has the updates too, and the security updates beside it.
    mirror=$(awk '$1 == "deb" { print $2; exit }' "$root/etc/apt/sources.list")
    [ -n "$mirror" ] || die 1 "debootstrap left no mirror in the base's sources.list"
    for suite in "$mirror $debian" "$mirror $debian-updates" "${mirror%/}-security $debian-security"; do
        echo "deb $suite main"
    done >"$root/etc/apt/sources.list"
    # Packages start no daemons while an image is built.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/var/log/*.log
    tar -C "$root" --numeric-owner -c . | docker import --change 'LABEL lockcheck.image=1' --change 'CMD ["bash"]' - "$1" >/dev/null ||
        die 1 "the engine did not import the base as $1"
}
