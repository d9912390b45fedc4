// Signed texts and answers: certificates, the part of RFC 9421 that the service uses, and the trusted time.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    /// <summary>A key of the service from /.well-known/license-keys.json: kty OKP, crv Ed25519.</summary>
    public sealed class PublicKey
    {
        /// <summary>The public key, in base64url.</summary>
        public string X { get; set; }

        /// <summary>The key ID.</summary>
        public string Kid { get; set; }

        internal byte[] Bytes => Base64.Url(X ?? "");
        internal bool IsWhole => Kid != null && Bytes != null && Bytes.Length == 32;

        internal static List<PublicKey> In(object list) =>
            (list as List<object> ?? new List<object>())
                .OfType<Dictionary<string, object>>()
                .Where(key => key.Text("kty") == "OKP" && key.Text("crv") == "Ed25519")
                .Select(key => new PublicKey { X = key.Text("x"), Kid = key.Text("kid") })
                .Where(key => key.IsWhole)
                .ToList();

        internal object Written() =>
            new Dictionary<string, object> { { "kty", "OKP" }, { "crv", "Ed25519" }, { "x", X }, { "kid", Kid } };
    }

    internal static class Members
    {
        private const double MostWhole = 9007199254740991;

        internal static object Get(this Dictionary<string, object> members, string name)
        {
            object value;
            return members != null && members.TryGetValue(name, out value) ? value : null;
        }

        internal static string Text(this Dictionary<string, object> members, string name) => members.Get(name) as string;

        internal static Dictionary<string, object> Object(this Dictionary<string, object> members, string name) =>
            members.Get(name) as Dictionary<string, object>;

        internal static long? Whole(object value)
        {
            if (!(value is double)) return null;
            var number = (double)value;
            return Math.Abs(number) <= MostWhole && Math.Floor(number) == number ? (long?)number : null;
        }
    }

    internal static class Base64
    {
        /// <summary>Decodes base64url; null if it is invalid.</summary>
        internal static byte[] Url(string text) =>
            Regex.IsMatch(text, @"\A[A-Za-z0-9_-]*\z") ? Plain(text.Replace('-', '+').Replace('_', '/') + new string('=', -text.Length & 3)) : null;

        internal static byte[] Plain(string text)
        {
            try
            {
                return Convert.FromBase64String(text);
            }
            catch (FormatException)
            {
                return null;
            }
        }

        internal static string Write(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
    }

    /// <summary>A stored or carried text: `kind.payload.signature`. The signature covers the kind.</summary>
    internal static class SignedText
    {
        /// <summary>Verifies a signed text of this kind and answers its payload; null if it is invalid.</summary>
        internal static Dictionary<string, object> Read(string text, string kind, IEnumerable<PublicKey> keys)
        {
            var parts = (text ?? "").Split('.');
            if (parts.Length != 3 || parts[0] != kind) return null;
            byte[] payload = Base64.Url(parts[1]), signature = Base64.Url(parts[2]);
            var said = payload == null ? null : Json.ObjectIn(payload);
            if (said == null || signature == null || said.Text("kid") == null) return null;
            var signed = Encoding.ASCII.GetBytes(parts[0] + "." + parts[1]);
            return Signed.Verifies(keys, said.Text("kid"), signed, signature) ? said : null;
        }
    }

    internal sealed class Certificate
    {
        internal const string OfLicense = "lic1", OfTrial = "trial1";

        internal string Plan, Machine;
        internal long Iat, Exp;
        internal bool IsLent, IsOfTrial;
        internal Dictionary<string, object> Features;

        /// <summary>
        /// Verifies a certificate of this kind and answers it, even if it has expired; null if it is invalid.
        /// </summary>
        internal static Certificate Read(string text, string kind, IEnumerable<PublicKey> keys)
        {
            var said = SignedText.Read(text, kind, keys);
            if (said == null) return null;
            long? iat = Members.Whole(said.Get("iat")), exp = Members.Whole(said.Get("exp"));
            var isWhole = new[] { "lic", "plan", "machine" }.All(name => said.Text(name) != null) && iat != null && exp != null;
            if (!isWhole) return null;
            return new Certificate
            {
                Plan = said.Text("plan"),
                Machine = said.Text("machine"),
                Iat = iat.Value,
                Exp = exp.Value,
                IsLent = Members.Whole(said.Get("lease")) != null,
                IsOfTrial = kind == OfTrial,
                Features = said.Object("features") ?? new Dictionary<string, object>(),
            };
        }

        internal static string MarkOf(string machineId) => Base64.Write(Signed.Sha256(Encoding.UTF8.GetBytes(machineId)));

        internal bool IsOf(string machineId) => Machine == MarkOf(machineId);
    }

    internal sealed class Question
    {
        internal string Method, Target, Nonce;

        /// <summary>The body; null if there is none.</summary>
        internal byte[] Body;
    }

    internal sealed class Answer
    {
        internal int Status;

        /// <summary>The headers by their lower-case names.</summary>
        internal Dictionary<string, string> Headers;

        internal byte[] Body;

        internal string Header(string name)
        {
            string value;
            return Headers.TryGetValue(name, out value) ? value : "";
        }

        /// <summary>The key ID that the signature names; null without a signature.</summary>
        internal string KeyId
        {
            get
            {
                var found = Regex.Match(Signed.Member(Header("signature-input"), "license") ?? "", @";keyid=""([^""\\]+)""");
                return found.Success ? found.Groups[1].Value : null;
            }
        }
    }

    internal static class Signed
    {
        internal static byte[] Sha256(byte[] bytes)
        {
            using (var hash = SHA256.Create()) return hash.ComputeHash(bytes);
        }

        internal static string DigestOf(byte[] body) => "sha-256=:" + Convert.ToBase64String(Sha256(body)) + ":";

        internal static bool Verifies(IEnumerable<PublicKey> keys, string kid, byte[] message, byte[] signature)
        {
            var key = keys.FirstOrDefault(one => one.Kid == kid);
            return key != null && Ed25519.Verify(key.Bytes, message, signature);
        }

        /// <summary>Returns a member of a dictionary (RFC 8941). Commas in strings and parentheses do not separate members.</summary>
        internal static string Member(string dictionary, string name) =>
            Regex.Matches(dictionary, @"(?:""(?:[^""\\]|\\.)*""|\([^)]*\)|[^,""(])+")
                .Cast<Match>()
                .Select(member => member.Value.Trim())
                .Where(member => member.StartsWith(name + "=", StringComparison.Ordinal))
                .Select(member => member.Substring(name.Length + 1))
                .FirstOrDefault();

        private static byte[] BytesIn(string member)
        {
            var found = Regex.Match(member ?? "", @"\A:([A-Za-z0-9+/]+={0,2}):\z");
            return found.Success ? Base64.Plain(found.Groups[1].Value) : null;
        }

        /// <summary>Verifies an answer. Returns its time in seconds since 1970; null if the signature is not valid.</summary>
        internal static long? At(Question question, Answer answer, IEnumerable<PublicKey> keys)
        {
            var sent = Member(answer.Header("signature-input"), "license");
            var parts = Regex.Match(sent ?? "", @"\A\(([^)]*)\)(;.+)\z");
            var signature = BytesIn(Member(answer.Header("signature"), "license"));
            var created = Regex.Match(parts.Groups[2].Value, @";created=([0-9]{1,12})(?:;|\z)");
            var digest = BytesIn(Member(answer.Header("content-digest"), "sha-256"));
            if (!parts.Success || signature == null || !created.Success) return null;
            if (digest == null || !digest.SequenceEqual(Sha256(answer.Body))) return null;
            var query = question.Target.IndexOf('?');
            var values = new Dictionary<string, string>
            {
                { "\"@status\"", answer.Status.ToString(CultureInfo.InvariantCulture) },
                { "\"content-digest\"", answer.Header("content-digest") },
                { "\"@method\";req", question.Method },
                { "\"@path\";req", query < 0 ? question.Target : question.Target.Substring(0, query) },
                { "\"@query\";req", query < 0 ? "?" : question.Target.Substring(query) },
                { "\"license-nonce\";req", question.Nonce },
            };
            if (question.Body != null) values["\"content-digest\";req"] = DigestOf(question.Body);
            // The signature must cover exactly the known components.
            var covered = parts.Groups[1].Value.Split(' ');
            if (covered.Length != values.Count || !new HashSet<string>(covered).SetEquals(values.Keys)) return null;
            var lines = covered.Select(name => name + ": " + values[name] + "\n");
            var signed = Encoding.GetEncoding("iso-8859-1").GetBytes(string.Concat(lines) + "\"@signature-params\": " + sent);
            var seconds = long.Parse(created.Groups[1].Value, CultureInfo.InvariantCulture);
            return seconds > 0 && Verifies(keys, answer.KeyId, signed, signature) ? seconds : (long?)null;
        }
    }

    internal struct TimeSeen
    {
        /// <summary>The tolerance for small clock corrections.</summary>
        private const double ToleranceMillis = 10 * 60000;

        /// <summary>The lead of the service's clock over this machine's, and the latest time that was seen, in milliseconds.</summary>
        internal double AheadMillis, LatestMillis;

        internal static double ClockMillis => (DateTime.UtcNow - Epoch).TotalMilliseconds;
        internal static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        /// <summary>The time of a signed answer, which overrides all earlier times.</summary>
        internal static TimeSeen Of(long seconds) =>
            new TimeSeen { AheadMillis = seconds * 1000.0 - ClockMillis, LatestMillis = seconds * 1000.0 };

        /// <summary>
        /// The time of a carried answer, whose age is unknown. A clock that is behind that time is corrected by the difference.
        /// </summary>
        internal static TimeSeen OfCarried(long seconds) =>
            new TimeSeen { AheadMillis = Math.Max(0, seconds * 1000.0 - ClockMillis), LatestMillis = seconds * 1000.0 };

        /// <summary>Returns the time in milliseconds since 1970; null if the clock was turned back.</summary>
        internal double? Now(double clockMillis, double writtenMillis)
        {
            var now = clockMillis + AheadMillis;
            if (clockMillis < writtenMillis - ToleranceMillis || now < LatestMillis - ToleranceMillis) return null;
            return Math.Max(now, LatestMillis);
        }
    }
}
