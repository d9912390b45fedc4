// The machine ID, and the folder and files of the stored license.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    internal static class Machine
    {
        private static bool Is(OSPlatform platform) => RuntimeInformation.IsOSPlatform(platform);

        internal static byte[] Random(int bytes)
        {
            var data = new byte[bytes];
            using (var generator = RandomNumberGenerator.Create()) generator.GetBytes(data);
            return data;
        }

        internal static string Hex(byte[] bytes) => string.Concat(bytes.Select(one => one.ToString("x2")));

        /// <summary>Computes the machine ID: an HMAC of the program name with the system ID as key, which never leaves the machine.</summary>
        internal static string IdFor(string product, string folder)
        {
            var own = OfSystem() ?? OfFolder(folder);
            using (var mark = new HMACSHA256(Encoding.UTF8.GetBytes(own)))
            {
                return Hex(mark.ComputeHash(Encoding.UTF8.GetBytes("license-client:" + product)));
            }
        }

        private static string OfSystem()
        {
            if (Is(OSPlatform.OSX))
            {
                return Said("/usr/sbin/ioreg", "-rd1 -c IOPlatformExpertDevice", "\"IOPlatformUUID\"\\s*=\\s*\"([0-9a-f-]{36})\"");
            }
            if (Is(OSPlatform.Windows))
            {
                // A 32-bit program sees a different registry view unless it requests the 64-bit one.
                return Said(
                    Path.Combine(Environment.SystemDirectory, "reg.exe"),
                    "query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64",
                    "\\bMachineGuid\\s+REG_SZ\\s+\\{?([0-9a-f-]{36})\\}?");
            }
            return In("/etc/machine-id") ?? In("/var/lib/dbus/machine-id");
        }

        private static string Said(string program, string arguments, string form)
        {
            var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, UseShellExecute = false, CreateNoWindow = true };
            using (var process = Process.Start(start))
            {
                var found = Regex.Match(process.StandardOutput.ReadToEnd(), form, RegexOptions.IgnoreCase);
                // Throw, because a machine with a temporarily different ID would lose its license.
                if (!found.Success) throw new IOException("the operating system does not report a machine id");
                return found.Groups[1].Value.ToLowerInvariant();
            }
        }

        private static string In(string file)
        {
            string text;
            try
            {
                text = File.ReadAllText(file).Trim();
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return null;
            }
            return Regex.IsMatch(text, "\\A[0-9a-fA-F]{32}\\z") && text.Trim('0') != "" ? text.ToLowerInvariant() : null;
        }

        /// <summary>Creates a random ID once and stores it.</summary>
        private static string OfFolder(string folder)
        {
            var file = Path.Combine(folder, "machine-id");
            var known = In(file);
            if (known != null) return known;
            var made = Hex(Random(16));
            try
            {
                Put(folder, file, made + "\n", false);
            }
            catch (IOException) when (File.Exists(file))
            {
                // Another process created it at the same time. The first file wins.
            }
            known = In(file);
            if (known == null) throw new IOException(file + " has no id of a machine");
            return known;
        }

        [DllImport("libc", EntryPoint = "chmod", SetLastError = true)]
        private static extern int ChangeMode(string file, uint mode);

        /// <summary>Restricts access to the owner. On Windows the user's folders are already restricted.</summary>
        private static void Close(string path, uint mode)
        {
            if (!Is(OSPlatform.Windows) && ChangeMode(path, mode) != 0) throw new IOException("the mode of " + path + " cannot be set");
        }

        /// <summary>Writes a file atomically. A process that is killed during the write leaves the old file.</summary>
        internal static void Put(string folder, string file, string text, bool replaces)
        {
            if (!Directory.Exists(folder)) Close(Directory.CreateDirectory(folder).FullName, 448 /* 0700 */);
            var draft = file + "." + Hex(Random(8));
            try
            {
                using (var stream = new FileStream(draft, FileMode.CreateNew, FileAccess.Write))
                {
                    Close(draft, 384 /* 0600 */);
                    var bytes = Encoding.UTF8.GetBytes(text);
                    stream.Write(bytes, 0, bytes.Length);
                    stream.Flush(true);
                }
                if (replaces && File.Exists(file)) File.Replace(draft, file, null);
                else File.Move(draft, file);
            }
            finally
            {
                File.Delete(draft);
            }
        }

        internal static string UsualFolder(string product)
        {
            var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
            string place;
            if (Is(OSPlatform.Windows)) place = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData);
            else if (Is(OSPlatform.OSX)) place = Path.Combine(home, "Library", "Application Support");
            else
            {
                var said = Environment.GetEnvironmentVariable("XDG_STATE_HOME");
                place = string.IsNullOrEmpty(said) ? Path.Combine(home, ".local", "state") : said;
            }
            return Path.Combine(place, product);
        }
    }

    /// <summary>The stored license. The client for Node uses the same file.</summary>
    internal sealed class Kept
    {
        /// <summary>The license key; null for a trial.</summary>
        internal string LicenseKey;

        /// <summary>The certificate; null after a refusal, so that the machine may not run until the service allows it.</summary>
        internal string Certificate;

        internal bool IsLent;
        internal List<PublicKey> PublicKeys;
        internal TimeSeen Time;

        private static string FileIn(string folder) => Path.Combine(folder, "license.json");

        /// <summary>Reads the stored license; null if there is none or the file is damaged. Activate it again then.</summary>
        internal static Kept Read(string folder)
        {
            Dictionary<string, object> found;
            try
            {
                found = Json.ObjectIn(File.ReadAllBytes(FileIn(folder)));
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
            var key = found.Text("licenseKey");
            var time = found.Object("time");
            var ahead = time.Get("aheadMillis") as double?;
            var latest = time.Get("latestMillis") as double?;
            var isTrial = found != null && found.ContainsKey("licenseKey") && found["licenseKey"] == null;
            if ((key == null && !isTrial) || ahead == null || latest == null) return null;
            return new Kept
            {
                LicenseKey = key,
                Certificate = found.Text("certificate"),
                IsLent = found.Get("isLent") as bool? == true,
                PublicKeys = PublicKey.In(found.Get("publicKeys")),
                Time = new TimeSeen { AheadMillis = ahead.Value, LatestMillis = latest.Value },
            };
        }

        /// <summary>Returns true if the stored license has this key. A trial has no key.</summary>
        internal bool IsOf(string licenseKey) => LicenseKey != null && LicenseClient.SameKey(LicenseKey, licenseKey);

        internal void Write(string folder)
        {
            var time = new Dictionary<string, object> { { "aheadMillis", Time.AheadMillis }, { "latestMillis", Time.LatestMillis } };
            var all = new Dictionary<string, object>
            {
                { "licenseKey", LicenseKey },
                { "certificate", Certificate },
                { "isLent", IsLent },
                { "publicKeys", PublicKeys.Select(key => key.Written()).ToList() },
                { "time", time },
            };
            Machine.Put(folder, FileIn(folder), Json.Write(all) + "\n", true);
        }

        internal static void Forget(string folder) => File.Delete(FileIn(folder));

        /// <summary>
        /// Returns the time of the last write: the latest time of the file and its folder, because the time of a file can be
        /// changed; 0 if there is no file.
        /// </summary>
        internal static double WrittenMillis(string folder)
        {
            var file = FileIn(folder);
            if (!File.Exists(file)) return 0;
            var times = new[]
            {
                File.GetLastWriteTimeUtc(file), File.GetCreationTimeUtc(file),
                Directory.GetLastWriteTimeUtc(folder), Directory.GetCreationTimeUtc(folder),
            };
            return (times.Max() - TimeSeen.Epoch).TotalMilliseconds;
        }
    }
}
