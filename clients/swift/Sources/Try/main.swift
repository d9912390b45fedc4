// A small licensed program: Try URL FOLDER and activate KEY, check, offline, release, trial, request KEY or answer FILE.
// LICENSE_KEYS names a file with public keys of the service to pin.

import Foundation
import MusterLicense

let args = CommandLine.arguments
let named = ProcessInfo.processInfo.environment["LICENSE_KEYS"]
let pinned = try named.map { PublicKey.all(in: try Data(contentsOf: URL(fileURLWithPath: $0))) }
let licenses = try LicenseClient(
    url: args[1], product: "license-demo", folder: args[2], publicKeys: pinned, patienceSeconds: 0)
if args[3] == "request" {
    print(try licenses.requestOffline(args[4]))
    exit(0)
}
let standing: Standing
switch args[3] {
case "activate": standing = try licenses.activate(args[4])
case "check": standing = try licenses.check()
case "offline": standing = try licenses.checkOffline()
case "trial": standing = try licenses.trial()
case "answer": standing = try licenses.acceptOffline(try String(contentsOfFile: args[4], encoding: .utf8))
default: standing = try licenses.release()
}
print("\(standing.reason): \(standing.message)")
exit(standing.mayRun ? 0 : 1)
