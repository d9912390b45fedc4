// The license of a program on one machine, for .NET Framework 4.7.1, Mono 6 and .NET 6, and newer. Copy the files beside
// this one into the program; System.Net.Http and System.Numerics, which come with the runtime, are all they need.
//
//     var licenses = new LicenseClient("https://licenses.example.com", "my-program");
//     var standing = licenses.Activate(key);   // once, after the purchase
//     standing = licenses.Check();             // at each start
//     standing = licenses.Trial();             // or without a key, for as long as the product may be tried
//     if (!standing.MayRun) { Console.Error.WriteLine(standing.Message); return 1; }
//
// It believes what is signed for its own question alone; all else is an outage, and then the certificate that it keeps
// decides. What it keeps is the file of the client for Node, so both may be used beside each other.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    /// <summary>
    /// The license of one program on one machine, for one thread at a time. Its calls wait for the service; a window calls them by
    /// Task.Run. IOException and UnauthorizedAccessException mean that this machine could not do its part: it may not run then.
    /// </summary>
    public sealed class LicenseClient
    {
        private readonly Asking asking;
        private readonly string product, folder;
        private readonly List<PublicKey> pinned;
        private string machineId;

        /// <summary>
        /// url: where the license service is. product: the program's name, which is part of the machine's id. folder: where the
        /// license is kept, the user's own place for programs unless told. publicKeys: the service's keys, built into the program;
        /// fetched over https and kept unless told. patience: how long to try while the service does not answer, and a try more;
        /// 10 s unless told. machineId: what else is to hold the license. serviceProduct: which of the service's products it is.
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
                throw new ArgumentException("product must be a name of letters, digits and . _ -");
            }
            if (serviceProduct != null && !Regex.IsMatch(serviceProduct, @"\A[a-z0-9][a-z0-9._-]{0,63}\z"))
            {
                throw new ArgumentException("serviceProduct must be a name of small letters, digits and . _ -");
            }
            if (publicKeys != null && (publicKeys.Count == 0 || !publicKeys.All(key => key.IsWhole)))
            {
                throw new ArgumentException("publicKeys must be Ed25519 keys as /.well-known/license-keys.json has them");
            }
            this.product = product;
            this.folder = folder ?? Machine.UsualFolder(product);
            this.machineId = machineId;
            pinned = publicKeys == null ? null : publicKeys.ToList();
            asking = new Asking(where, serviceProduct, patience ?? TimeSpan.FromSeconds(10), pinned);
        }

        /// <summary>This machine, as the service knows it.</summary>
        public string MachineId => machineId ?? (machineId = Machine.IdFor(product, folder));

        private Kept Open()
        {
            var kept = Kept.Read(folder);
            if (kept != null && pinned == null && asking.Trusted.Count == 0) asking.Trusted = kept.PublicKeys;
            return kept;
        }

        /// <summary>Makes this machine the license's. Where nothing answers, the same license that was kept before counts.</summary>
        public Standing Activate(string licenseKey)
        {
            var kept = Open();
            var standing = Activate(kept, licenseKey);
            if (!standing.IsNoAnswer || kept == null || !kept.IsOf(licenseKey)) return standing;
            return Without(kept, standing);
        }

        /// <summary>Whether the program may run: by the service's word, and where it does not answer by the certificate.</summary>
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
            // The time of its slot was over; activating says whether there is another, or why not.
            return kept.IsLent ? Activate(kept, kept.LicenseKey) : Standing.OfState(heard.Header("license-state"));
        }

        /// <summary>The same without asking the service: at once, and as of the last time.</summary>
        public Standing CheckOffline() => ByCertificate(Open());

        /// <summary>
        /// Lets the program run without a key for as long as the product's trials last, once on each machine. Asking again goes on
        /// with the one that began. Where a license was activated here it is what Check says.
        /// </summary>
        public Standing Trial()
        {
            var kept = Open();
            return kept == null || kept.LicenseKey == null ? Try(kept) : Check();
        }

        /// <summary>
        /// For a machine that never comes online: a text to carry to the seller of the license, who answers it. Another request
        /// takes the place of this one. Needs publicKeys, by which the answer is believed.
        /// </summary>
        public string RequestOffline(string licenseKey)
        {
            var asked = new AirGapRequest { LicenseKey = licenseKey, MachineId = MachineId, Nonce = Machine.Hex(Machine.Random(18)) };
            new KeptRequest { LicenseKey = licenseKey, Nonce = asked.Nonce }.Write(folder);
            return asked.Text;
        }

        /// <summary>Takes in the answer to the request. The same answer once more changes nothing.</summary>
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
            // Its time was counted from the first time on: taking it in again makes it no younger.
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

        /// <summary>Gives the license back, for another machine: its reason is `released`, or why not.</summary>
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
            // Its own machine may go on with it; any other has nothing to keep.
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
            // A yes to this very question has all three; one that has not is another's.
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

        /// <summary>The license that an answer is about; null unless it is of this key and this machine.</summary>
        private Dictionary<string, object> LicenseIn(Heard heard, string licenseKey)
        {
            var license = heard.Said.Object("license");
            var key = license.Text("key");
            return key != null && SameKey(key, licenseKey) && license.Text("machineId") == MachineId ? license : null;
        }

        /// <summary>The service has said yes: what is kept is brought up to date, and the certificate where it is due.</summary>
        private Standing Renewed(Kept kept, Heard heard)
        {
            var certificate = CertificateIn(kept);
            if (certificate != null && !certificate.IsOf(MachineId)) certificate = null;
            // Due when more than half of its life is over.
            if (certificate == null || 2 * (certificate.Exp - heard.Seconds) < certificate.Exp - certificate.Iat)
            {
                var standing = Activate(kept, kept.LicenseKey);
                if (!standing.IsNoAnswer) return standing;
            }
            KeepIfPossible(kept, heard);
            return Standing.Yes("service", heard.Said.Text("plan"), certificate);
        }

        /// <summary>The license's, or the trial's.</summary>
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

        /// <summary>Where there was no answer: what was kept counts, and else why there was none.</summary>
        private Standing Without(Kept kept, Standing outcome)
        {
            var standing = ByCertificate(kept);
            return standing.Reason == "no_license" ? outcome : standing;
        }

        /// <summary>From here on it takes a yes of the service. What cannot be kept is a refusal all the same.</summary>
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

        /// <summary>A disk that is full is no reason to stop a program that may run.</summary>
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

        /// <summary>Whether two texts are one key, read as leniently as the service reads it.</summary>
        internal static bool SameKey(string one, string other) => Bare(one) == Bare(other);

        private static string Bare(string key)
        {
            var symbols = Regex.Replace(key, "[^0-9A-Za-z]", "").ToUpperInvariant().Replace('O', '0').Replace('I', '1').Replace('L', '1');
            // Without the product's five, which need not be typed.
            return symbols.Length > 25 ? symbols.Substring(symbols.Length - 25) : symbols;
        }
    }
}
