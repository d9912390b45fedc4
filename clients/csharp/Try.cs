// A small licensed program: Try URL FOLDER and activate KEY, check, offline, release, trial, request KEY or answer FILE;
// or vectors FOLDER. LICENSE_KEYS names a file with public keys of the service to pin.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

namespace Muster.Licenses
{
    internal static class Try
    {
        private static int Main(string[] args)
        {
            if (args[0] == "vectors") return Vectors(args[1]);
            var named = Environment.GetEnvironmentVariable("LICENSE_KEYS");
            var pinned = string.IsNullOrEmpty(named) ? null : PublicKey.In(Json.ObjectIn(File.ReadAllBytes(named)).Get("keys"));
            var licenses = new LicenseClient(args[0], "license-demo", args[1], pinned, TimeSpan.Zero);
            if (args[2] == "request")
            {
                Console.WriteLine(licenses.RequestOffline(args[3]));
                return 0;
            }
            Standing standing;
            switch (args[2])
            {
                case "activate": standing = licenses.Activate(args[3]); break;
                case "check": standing = licenses.Check(); break;
                case "trial": standing = licenses.Trial(); break;
                case "answer": standing = licenses.AcceptOffline(File.ReadAllText(args[3])); break;
                case "offline": standing = licenses.CheckOffline(); break;
                default: standing = licenses.Release(); break;
            }
            Console.WriteLine(standing.Reason + ": " + standing.Message + (standing.Has("export") ? " With export." : ""));
            return standing.MayRun ? 0 : 1;
        }

        /// <summary>Runs the shared test vectors of the clients.</summary>
        private static int Vectors(string folder)
        {
            var wrong = new List<string>();
            var done = 0;
            Action<Dictionary<string, object>, object, object> same = (one, found, expected) =>
            {
                done += 1;
                if (!Equals(found, expected)) wrong.Add(one.Text("name") + ": " + found + " instead of " + expected);
            };
            Func<string, Dictionary<string, object>> read = name => Json.ObjectIn(File.ReadAllBytes(Path.Combine(folder, name + ".json")));
            Func<Dictionary<string, object>, IEnumerable<Dictionary<string, object>>> cases = file =>
                ((List<object>)file.Get("cases")).Cast<Dictionary<string, object>>();

            foreach (var kind in new[] { Certificate.OfLicense, Certificate.OfTrial })
            {
                var certificates = read(kind == Certificate.OfTrial ? "trials" : "certificates");
                foreach (var one in cases(certificates))
                {
                    var certificate = Certificate.Read(one.Text("certificate"), kind, PublicKey.In(certificates.Get("publicKeys")));
                    var outcome = certificate == null ? "not_genuine"
                        : !certificate.IsOf(one.Text("machineId")) ? "other_machine"
                        : (double)one.Get("nowSeconds") >= certificate.Exp ? "ended" : "valid";
                    same(one, outcome, one.Text("outcome"));
                }
            }

            var airGap = read("air-gap");
            Func<Dictionary<string, object>, AirGapRequest> requestIn = one => new AirGapRequest
            {
                LicenseKey = one.Text("licenseKey"),
                MachineId = one.Text("machineId"),
                Nonce = one.Text("nonce"),
            };
            foreach (var one in ((List<object>)airGap.Get("requests")).Cast<Dictionary<string, object>>())
            {
                var written = requestIn(Json.ObjectIn(Base64.Url(requestIn(one).Text.Substring("licreq1.".Length))));
                same(one, written.LicenseKey + written.MachineId + written.Nonce, one.Text("licenseKey") + one.Text("machineId") + one.Text("nonce"));
            }
            foreach (var one in ((List<object>)airGap.Get("answers")).Cast<Dictionary<string, object>>())
            {
                var said = AirGapAnswer.To(requestIn(one.Object("request")), one.Text("answer"), PublicKey.In(airGap.Get("publicKeys")));
                same(one, said.Reason, one.Text("outcome"));
                same(one, said.CertificateText, one.Text("certificate"));
                same(one, said.IsOwn ? (bool?)said.Refusal.IsFinal : null, one.Get("isFinal"));
                if (said.IsOwn) same(one, said.Refusal.Message, one.Text("message"));
            }

            var answers = read("answers");
            foreach (var one in cases(answers))
            {
                Dictionary<string, object> asked = one.Object("question"), given = one.Object("answer");
                var body = asked.Text("body");
                var question = new Question
                {
                    Method = asked.Text("method"),
                    Target = asked.Text("target"),
                    Nonce = asked.Text("nonce"),
                    Body = body == null ? null : Encoding.UTF8.GetBytes(body),
                };
                var answer = new Answer
                {
                    Status = (int)(double)given.Get("status"),
                    Headers = given.Object("headers").ToDictionary(header => header.Key, header => (string)header.Value),
                    Body = Encoding.UTF8.GetBytes(given.Text("body")),
                };
                same(one, (double?)Signed.At(question, answer, PublicKey.In(answers.Get("publicKeys"))), one.Get("signedAt"));
            }

            foreach (var one in cases(read("clock")))
            {
                var seen = one.Object("seen");
                var time = new TimeSeen { AheadMillis = (double)seen.Get("aheadMillis"), LatestMillis = (double)seen.Get("latestMillis") };
                same(one, time.Now((double)one.Get("clockMillis"), (double)one.Get("writtenMillis")), one.Get("now"));
            }

            wrong.ForEach(Console.Error.WriteLine);
            Console.WriteLine(done + " cases");
            return wrong.Count == 0 ? 0 : 1;
        }
    }
}
