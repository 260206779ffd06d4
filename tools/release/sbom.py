"""A bill of materials of the portable folder in SPDX 2.3: everything inside, with versions and where it is from."""

import datetime
import json
import os
import re
import urllib.parse


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def document(name, version, parts, moment):
    """-> the document as a dictionary. `parts` are triples: the file, the package of Debian (or dawn) and its version."""
    def package(part, part_version, purl=None):
        entry = {"SPDXID": identifier(part), "name": part, "versionInfo": part_version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
                 "copyrightText": "NOASSERTION"}
        if purl:
            entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
        return entry

    inside = {source: source_version for _, source, source_version in parts}
    packages = [package("tokamak", version)]
    packages[0]["licenseDeclared"] = "Apache-2.0"
    for source, source_version in sorted(inside.items()):
        purl = None if source == "dawn" else f"pkg:deb/debian/{source}@{urllib.parse.quote(source_version)}"
        packages.append(package(source, source_version, purl))
    created = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{moment}",
        "creationInfo": {"created": created, "creators": ["Tool: tokamak-package"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": identifier("tokamak")},
            *({"spdxElementId": identifier("tokamak"), "relationshipType": "CONTAINS", "relatedSpdxElement": identifier(source)}
              for source in sorted(inside))],
    }


def write(folder, name, version, parts):
    """Writes versions.txt and sbom.spdx.json; the moment is SOURCE_DATE_EPOCH."""
    width = max(len(part[0]) for part in parts)
    (folder / "versions.txt").write_text(
        "".join(f"{file:{width}}  {source} {source_version}\n" for file, source, source_version in sorted(parts)), encoding="utf-8")
    bill = document(name, version, parts, int(os.environ["SOURCE_DATE_EPOCH"]))
    (folder / "sbom.spdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
