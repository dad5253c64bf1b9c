#!/usr/bin/env bash
# Prepares a release of all modules, which have one version.
#
#   tools/release.sh prepare v0.2.0   requires that version in every module, and gives it its heading in CHANGELOG.md
#   tools/release.sh tag v0.2.0       after that is committed and .ci/run has passed: tags every module
#
# Then: git push --follow-tags
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "release: $*" >&2; exit 1; }

[ $# -eq 2 ] || fail "usage: tools/release.sh prepare|tag VERSION"
version=$2
[[ $version =~ ^v[01]\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.]+)?$ ]] || fail "version must be like v1.2.3, and below v2, which needs other module paths: got $version"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed"
library=$(GOWORK=off go list -m) # in the workspace it lists all modules
mapfile -t files < <(find . -mindepth 2 \( -name go.mod -o -name local.mod \) -not -path '*/testdata/*' -not -path './tools/*' | LC_ALL=C sort)
nested=()
for file in "${files[@]#./}"; do
	case $file in */go.mod) nested+=("${file%/go.mod}") ;; esac
done

case $1 in
prepare)
	grep -q '^## \[Unreleased\]$' CHANGELOG.md || fail "CHANGELOG.md has no section Unreleased"
	! grep -qF "## [${version#v}]" CHANGELOG.md || fail "CHANGELOG.md has a section ${version#v} already"
	sed -i.bak "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [${version#v}] - $(date -u +%F)/" CHANGELOG.md
	rm CHANGELOG.md.bak # and no other file of such a name: it may be ignored, or a branch in .git
	for file in "${files[@]}"; do # which may require each other, too
		sed -i.bak "s|^\(\(require \)\?	\?$library\(/[a-z/-]*\)\?\) v[^ ]*|\1 $version|" "$file"
		rm "$file.bak"
	done
	git diff --stat
	;;
tag)
	grep -qF "## [${version#v}]" CHANGELOG.md || fail "CHANGELOG.md has no section ${version#v}: prepare comes first"
	for module in "${nested[@]}"; do
		grep -q "$library $version\$" "$module/go.mod" || fail "$module/go.mod does not require $library $version: prepare comes first"
	done
	for tag in "$version" "${nested[@]/%//$version}"; do # before the first is made: half of the tags would be in the way of another try
		! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "there is a tag $tag already"
	done
	git tag -a "$version" -m "$version"
	for module in "${nested[@]}"; do
		git tag -a "$module/$version" -m "$module $version"
	done
	git tag --points-at HEAD
	;;
*) fail "there is no command $1; there are prepare and tag" ;;
esac
