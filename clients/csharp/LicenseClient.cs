// A license client for one program on one machine, for .NET Framework 4.7.1, Mono 6, .NET 6 and newer. Copy all files of
// this folder except Try.cs into the program. They need only System.Net.Http and System.Numerics of the runtime.
//
//     var licenses = new LicenseClient("https://licenses.example.com", "my-program");
//     var standing = licenses.Activate(key);   // once, after the purchase
//     standing = licenses.Check();             // at each start
//     standing = licenses.Trial();             // or a trial without a key
//     if (!standing.MayRun) { Console.Error.WriteLine(standing.Message); return 1; }
//
// It trusts only answers that are signed for its own request. Everything else counts as an outage, and then the stored
// certificate decides. It uses the same file as the client for Node, so a program may use both.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    /// <summary>
    /// The license client of one program on one machine. It is not thread-safe. Its calls block until the service answers, so
    /// a user interface calls them with Task.Run. IOException and UnauthorizedAccessException mean that this machine failed
    /// (its disk or its ID), and that the program may not run.
    /// </summary>
    public sealed class LicenseClient
    {
        private readonly Asking asking;
        private readonly string product, folder;
        private readonly List<PublicKey> pinned;
        private string machineId;

        /// <summary>
        /// url: the URL of the license service. product: the name of the program, which is part of the machine ID. folder: the
        /// folder of the stored license, by default in the user's folder for programs. publicKeys: public keys of the service to
        /// pin; by default they are fetched over https and stored. patience: the time to retry while the service does not answer,
        /// plus one more attempt; 10 s by default. machineId: replaces the machine ID if something else holds the license.
        /// serviceProduct: the product at a service with several products.
        /// </summary>
        public LicenseClient(
            string url, string product, string folder = null, IReadOnlyCollection<PublicKey> publicKeys = null,
            TimeSpan? patience = null, string machineId = null, string serviceProduct = null)
        {
            Uri where;
            var isUrl = Uri.TryCreate(url, UriKind.Absolute, out where) && (where.Scheme == "https" || where.Scheme == "http");
            if (!isUrl || where.PathAndQuery != "/") throw new ArgumentException("url must name a host by http or https, and no path");
            var isHere = Regex.IsMatch(where.Host, @"\A(localhost|127(\.[0-9]+){3}|\[?::1\]?)\z");
            if (where.Scheme == "http" && !isHere && publicKeys == null)
            {
                throw new ArgumentException("url must be of https, unless publicKeys are given");
            }
            if (!Regex.IsMatch(product ?? "", @"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\z"))
            {
                throw new ArgumentException("product must consist of letters, digits and the characters . _ -");
            }
            if (serviceProduct != null && !Regex.IsMatch(serviceProduct, @"\A[a-z0-9][a-z0-9._-]{0,63}\z"))
            {
                throw new ArgumentException("serviceProduct must be a name of lower-case letters, digits and . _ -");
            }
            if (publicKeys != null && (publicKeys.Count == 0 || !publicKeys.All(key => key.IsWhole)))
            {
                throw new ArgumentException("publicKeys must be Ed25519 keys in the format of /.well-known/license-keys.json");
            }
            this.product = product;
            this.folder = folder ?? Machine.UsualFolder(product);
            this.machineId = machineId;
            pinned = publicKeys == null ? null : publicKeys.ToList();
            asking = new Asking(where, serviceProduct, patience ?? TimeSpan.FromSeconds(10), pinned);
        }

        /// <summary>The machine ID that the service knows.</summary>
        public string MachineId => machineId ?? (machineId = Machine.IdFor(product, folder));

        private Kept Open()
        {
            var kept = Kept.Read(folder);
            if (kept != null && pinned == null && asking.Trusted.Count == 0) asking.Trusted = kept.PublicKeys;
            return kept;
        }

        /// <summary>Activates a license on this machine. Without an answer, the stored license counts if it has this key.</summary>
        public Standing Activate(string licenseKey)
        {
            var kept = Open();
            var standing = Activate(kept, licenseKey);
            if (!standing.IsNoAnswer || kept == null || !kept.IsOf(licenseKey)) return standing;
            return Without(kept, standing);
        }

        /// <summary>Checks the license with the service or, without an answer, by the certificate.</summary>
        public Standing Check()
        {
            var kept = Open();
            if (kept == null) return Standing.No("no_license", true);
            if (kept.LicenseKey == null) return Try(kept);
            var query = "licenseKey=" + Uri.EscapeDataString(kept.LicenseKey) + "&machineId=" + Uri.EscapeDataString(MachineId);
            var heard = asking.Ask("GET", "/api/activate/check?" + query, null);
            if (heard.Reason != null) return Without(kept, Standing.No(heard.Reason));
            if (heard.Status == 200 && heard.Said.Get("valid") as bool? == true) return Renewed(kept, heard);
            Drop(kept, heard);
            if (heard.Status != 200) return Standing.Refused(heard);
            // The slot lease has expired. Activate again to get another slot or the reason of the refusal.
            return kept.IsLent ? Activate(kept, kept.LicenseKey) : Standing.OfState(heard.Header("license-state"));
        }

        /// <summary>Checks the license by the certificate alone, without asking the service.</summary>
        public Standing CheckOffline() => ByCertificate(Open());

        /// <summary>
        /// Starts the trial of this machine or continues it. Each machine has only one. If a license was activated here, answers
        /// the same as Check.
        /// </summary>
        public Standing Trial()
        {
            var kept = Open();
            return kept == null || kept.LicenseKey == null ? Try(kept) : Check();
        }

        /// <summary>
        /// Makes the activation request of an offline machine, a text that people carry to the seller, who answers it. A new
        /// request replaces the previous one. Needs publicKeys to verify the answer.
        /// </summary>
        public string RequestOffline(string licenseKey)
        {
            var asked = new AirGapRequest { LicenseKey = licenseKey, MachineId = MachineId, Nonce = Machine.Hex(Machine.Random(18)) };
            new KeptRequest { LicenseKey = licenseKey, Nonce = asked.Nonce }.Write(folder);
            return asked.Text;
        }

        /// <summary>Accepts the answer to the request. Accepting it again changes nothing.</summary>
        public Standing AcceptOffline(string answer)
        {
            var kept = Open();
            var request = KeptRequest.Read(folder);
            if (request == null) return Standing.No("answer_of_another_request");
            var asked = new AirGapRequest { LicenseKey = request.LicenseKey, MachineId = MachineId, Nonce = request.Nonce };
            var said = AirGapAnswer.To(asked, answer, Keys);
            var isKept = kept != null && kept.IsOf(request.LicenseKey);
            if (said.Refusal != null)
            {
                if (!said.IsOwn || !isKept) return said.Refusal;
                kept.Certificate = null;
                kept.Write(folder);
                KeptRequest.Forget(folder);
                return said.Refusal;
            }
            // The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
            if (!request.IsAnswered || !isKept)
            {
                kept = new Kept
                {
                    LicenseKey = said.LicenseKey,
                    Certificate = said.CertificateText,
                    IsLent = said.Certificate.IsLent,
                    PublicKeys = ToKeep,
                    Time = TimeSeen.OfCarried(said.Seconds),
                };
                kept.Write(folder);
                request.IsAnswered = true;
                request.Write(folder);
            }
            return ByCertificate(kept);
        }

        /// <summary>Releases the license for another machine. The reason is `released` or that of a refusal.</summary>
        public Standing Release()
        {
            var kept = Open();
            if (kept == null || kept.LicenseKey == null) return Standing.No("no_license", true);
            var heard = asking.Ask("POST", "/api/activate/release", BodyFor(kept.LicenseKey));
            if (heard.Reason != null) return Standing.No(heard.Reason);
            if (heard.Status == 200)
            {
                if (LicenseIn(heard, kept.LicenseKey) == null) return Standing.No("untrusted");
                KeptRequest.Forget(folder);
                Kept.Forget(folder);
                return Standing.No("released", true);
            }
            var refusal = Standing.Refused(heard);
            // After exhausted transfers this machine may keep the license. After any other refusal nothing is kept.
            if (refusal.Reason != "transfers_exhausted") Drop(kept, heard);
            return refusal;
        }

        private byte[] BodyFor(string licenseKey) =>
            Encoding.UTF8.GetBytes(Json.Write(new Dictionary<string, object> { { "licenseKey", licenseKey }, { "machineId", MachineId } }));

        private Standing Try(Kept kept)
        {
            var body = Json.Write(new Dictionary<string, object> { { "machineId", MachineId } });
            var heard = asking.Ask("POST", "/api/trials", Encoding.UTF8.GetBytes(body));
            if (heard.Reason != null) return Without(kept, Standing.No(heard.Reason));
            if (heard.Status != 200)
            {
                if (kept != null) Drop(kept, heard);
                return Standing.Refused(heard);
            }
            var text = heard.Header("license-certificate");
            var certificate = Certificate.Read(text, Certificate.OfTrial, Keys);
            var isMine = heard.Said.Object("trial").Text("machineId") == MachineId;
            if (!isMine || certificate == null || !certificate.IsOf(MachineId)) return Standing.No("untrusted");
            new Kept { Certificate = text, PublicKeys = ToKeep, Time = TimeSeen.Of(heard.Seconds) }.Write(folder);
            return Standing.Yes("service", certificate.Plan, certificate);
        }

        private Standing Activate(Kept kept, string licenseKey)
        {
            var heard = asking.Ask("POST", "/api/activate", BodyFor(licenseKey));
            if (heard.Reason != null) return Standing.No(heard.Reason);
            if (heard.Status != 200)
            {
                if (kept != null && kept.IsOf(licenseKey)) Drop(kept, heard);
                return Standing.Refused(heard);
            }
            var license = LicenseIn(heard, licenseKey);
            var text = heard.Header("license-certificate");
            var certificate = Certificate.Read(text, Certificate.OfLicense, Keys);
            // An approval of this request has all three. Otherwise the answer is for another request.
            if (license == null || certificate == null || !certificate.IsOf(MachineId)) return Standing.No("untrusted");
            var next = new Kept
            {
                LicenseKey = license.Text("key"),
                Certificate = text,
                IsLent = certificate.IsLent,
                PublicKeys = ToKeep,
                Time = TimeSeen.Of(heard.Seconds),
            };
            next.Write(folder);
            return Standing.Yes("service", license.Text("plan"), certificate);
        }

        /// <summary>Returns the license of an answer; null unless it is for this key and this machine.</summary>
        private Dictionary<string, object> LicenseIn(Heard heard, string licenseKey)
        {
            var license = heard.Said.Object("license");
            var key = license.Text("key");
            return key != null && SameKey(key, licenseKey) && license.Text("machineId") == MachineId ? license : null;
        }

        /// <summary>Stores the approval of the service and renews the certificate if it is due.</summary>
        private Standing Renewed(Kept kept, Heard heard)
        {
            var certificate = CertificateIn(kept);
            if (certificate != null && !certificate.IsOf(MachineId)) certificate = null;
            // The certificate is due for renewal after half of its validity.
            if (certificate == null || 2 * (certificate.Exp - heard.Seconds) < certificate.Exp - certificate.Iat)
            {
                var standing = Activate(kept, kept.LicenseKey);
                if (!standing.IsNoAnswer) return standing;
            }
            KeepIfPossible(kept, heard);
            return Standing.Yes("service", heard.Said.Text("plan"), certificate);
        }

        /// <summary>Returns the certificate of the license or trial.</summary>
        private Certificate CertificateIn(Kept kept) =>
            Certificate.Read(kept.Certificate, kept.LicenseKey == null ? Certificate.OfTrial : Certificate.OfLicense, Keys);

        private Standing ByCertificate(Kept kept)
        {
            if (kept == null || kept.Certificate == null) return Standing.No("no_license", true);
            var certificate = CertificateIn(kept);
            if (certificate == null) return Standing.No("certificate_not_genuine");
            if (!certificate.IsOf(MachineId)) return Standing.No("certificate_of_another_machine");
            var seen = kept.Time;
            seen.LatestMillis = Math.Max(seen.LatestMillis, certificate.Iat * 1000.0);
            var now = seen.Now(TimeSeen.ClockMillis, Kept.WrittenMillis(folder));
            if (now == null) return Standing.No("clock_turned_back");
            if (now > kept.Time.LatestMillis)
            {
                kept.Time.LatestMillis = now.Value;
                WriteIfPossible(kept);
            }
            return now >= certificate.Exp * 1000.0 ? Standing.No("certificate_ended") : Standing.Yes("certificate", certificate.Plan, certificate);
        }

        /// <summary>Handles an outage: the stored license counts, and without one the outage is answered.</summary>
        private Standing Without(Kept kept, Standing outcome)
        {
            var standing = ByCertificate(kept);
            return standing.Reason == "no_license" ? outcome : standing;
        }

        /// <summary>Drops the license after a refusal, so that only the service can allow it again, even if the write fails.</summary>
        private void Drop(Kept kept, Heard heard)
        {
            kept.Certificate = null;
            KeepIfPossible(kept, heard);
            try
            {
                KeptRequest.Forget(folder);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
            }
        }

        private void KeepIfPossible(Kept kept, Heard heard)
        {
            kept.PublicKeys = ToKeep;
            kept.Time = TimeSeen.Of(heard.Seconds);
            WriteIfPossible(kept);
        }

        /// <summary>Writes if possible. A full disk must not stop a program that may run.</summary>
        private void WriteIfPossible(Kept kept)
        {
            try
            {
                kept.Write(folder);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
            }
        }

        private List<PublicKey> ToKeep => pinned == null ? asking.Trusted : new List<PublicKey>();
        private List<PublicKey> Keys => pinned ?? asking.Trusted;

        /// <summary>Compares two keys as leniently as the service parses them.</summary>
        internal static bool SameKey(string one, string other) => Bare(one) == Bare(other);

        private static string Bare(string key)
        {
            var symbols = Regex.Replace(key, "[^0-9A-Za-z]", "").ToUpperInvariant().Replace('O', '0').Replace('I', '1').Replace('L', '1');
            // Drop the five-symbol prefix of the product, which people need not type.
            return symbols.Length > 25 ? symbols.Substring(symbols.Length - 25) : symbols;
        }
    }
}
