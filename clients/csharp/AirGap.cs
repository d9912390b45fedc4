// Activation of offline machines: people carry a request to the seller of the license and the answer back. The answer is
// valid only for the nonce, the key and the machine of its request.

using System.Collections.Generic;
using System.IO;
using System.Text;

namespace Muster.Licenses
{
    internal sealed class AirGapRequest
    {
        internal string LicenseKey, MachineId, Nonce;

        internal string Text
        {
            get
            {
                var asked = new Dictionary<string, object> { { "licenseKey", LicenseKey }, { "machineId", MachineId }, { "nonce", Nonce } };
                return "licreq1." + Base64.Write(Encoding.UTF8.GetBytes(Json.Write(asked)));
            }
        }
    }

    /// <summary>The last request. Its answer may be accepted again, which changes nothing.</summary>
    internal sealed class KeptRequest
    {
        internal string LicenseKey, Nonce;
        internal bool IsAnswered;

        private static string FileIn(string folder) => Path.Combine(folder, "request.json");

        /// <summary>Reads the last request; null if there is none, or if it was refused since.</summary>
        internal static KeptRequest Read(string folder)
        {
            if (!File.Exists(FileIn(folder))) return null;
            var found = Json.ObjectIn(File.ReadAllBytes(FileIn(folder)));
            string key = found.Text("licenseKey"), nonce = found.Text("nonce");
            if (key == null || nonce == null) return null;
            return new KeptRequest { LicenseKey = key, Nonce = nonce, IsAnswered = found.Get("isAnswered") as bool? == true };
        }

        internal void Write(string folder)
        {
            var all = new Dictionary<string, object> { { "licenseKey", LicenseKey }, { "nonce", Nonce }, { "isAnswered", IsAnswered } };
            Machine.Put(folder, FileIn(folder), Json.Write(all) + "\n", true);
        }

        /// <summary>Deletes the request after a refusal or release, because earlier answers are then invalid.</summary>
        internal static void Forget(string folder)
        {
            if (File.Exists(FileIn(folder))) File.Delete(FileIn(folder));
        }
    }

    internal sealed class AirGapAnswer
    {
        /// <summary>`granted` or the reason of a refusal.</summary>
        internal string Reason;

        /// <summary>The service itself refused this request.</summary>
        internal bool IsOwn;

        internal Standing Refusal;
        internal string LicenseKey, CertificateText;
        internal Certificate Certificate;
        internal long Seconds;

        private static AirGapAnswer Foreign(string reason) => new AirGapAnswer { Reason = reason, Refusal = Standing.No(reason) };

        /// <summary>Reads and verifies the answer to a request.</summary>
        internal static AirGapAnswer To(AirGapRequest asked, string text, List<PublicKey> keys)
        {
            var said = SignedText.Read((text ?? "").Trim(), "licans1", keys);
            var seconds = Members.Whole(said.Get("iat"));
            if (seconds == null) return Foreign("untrusted");
            var key = said.Text("licenseKey");
            var isOwn = said.Text("nonce") == asked.Nonce && said.Text("machine") == Certificate.MarkOf(asked.MachineId);
            if (!isOwn || key == null || !LicenseClient.SameKey(key, asked.LicenseKey)) return Foreign("answer_of_another_request");
            if (said.Text("reason") != null)
            {
                var refusal = Standing.Carried(said);
                return new AirGapAnswer { Reason = refusal.Reason, IsOwn = true, Refusal = refusal };
            }
            var granted = said.Text("certificate");
            var certificate = Certificate.Read(granted, Certificate.OfLicense, keys);
            if (certificate == null || !certificate.IsOf(asked.MachineId)) return Foreign("untrusted");
            return new AirGapAnswer
            {
                Reason = "granted",
                LicenseKey = key,
                CertificateText = granted,
                Certificate = certificate,
                Seconds = seconds.Value,
            };
        }
    }
}
