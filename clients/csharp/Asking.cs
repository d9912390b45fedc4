// Requests to the license service, with retries.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading;
using System.Threading.Tasks;
using System.Text.RegularExpressions;

namespace Muster.Licenses
{
    /// <summary>The decision of the service. Without one, only Reason is set: `unreachable` or `untrusted`.</summary>
    internal sealed class Heard
    {
        internal string Reason;
        internal TimeSpan RetryAfter;
        internal Answer Answer;
        internal Dictionary<string, object> Said;

        /// <summary>The time of the service, in seconds since 1970.</summary>
        internal long Seconds;

        internal int Status => Answer.Status;
        internal string Header(string name) => Answer.Header(name);
    }

    internal sealed class Asking
    {
        private const int MostBytes = 256 * 1024;
        private static readonly TimeSpan AttemptTime = TimeSpan.FromSeconds(10);
        private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);

        // Redirects are not followed, because the answer is signed.
        private static readonly HttpClient Caller = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false })
        {
            Timeout = AttemptTime,
            MaxResponseContentBufferSize = MostBytes,
        };

        private readonly Uri where;
        private readonly string serviceProduct;
        private readonly TimeSpan patience;
        private readonly List<PublicKey> pinned;

        /// <summary>The fetched or stored keys.</summary>
        internal List<PublicKey> Trusted = new List<PublicKey>();

        internal Asking(Uri where, string serviceProduct, TimeSpan patience, List<PublicKey> pinned)
        {
            this.where = where;
            this.serviceProduct = serviceProduct;
            this.patience = patience;
            this.pinned = pinned;
        }

        private Answer Send(Question question)
        {
            using (var request = new HttpRequestMessage(new HttpMethod(question.Method), new Uri(where, question.Target)))
            {
                request.Headers.ConnectionClose = true;
                if (question.Nonce != null) request.Headers.TryAddWithoutValidation("License-Nonce", question.Nonce);
                if (serviceProduct != null) request.Headers.TryAddWithoutValidation("License-Product", serviceProduct);
                if (question.Body != null)
                {
                    request.Content = new ByteArrayContent(question.Body);
                    request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                    request.Headers.TryAddWithoutValidation("Content-Digest", Signed.DigestOf(question.Body));
                }
                // The signature covers the path as it is sent, which .NET may have normalized.
                question.Target = request.RequestUri.PathAndQuery;
                using (var response = Caller.SendAsync(request).ConfigureAwait(false).GetAwaiter().GetResult())
                {
                    var headers = response.Headers.Concat(response.Content.Headers);
                    return new Answer
                    {
                        Status = (int)response.StatusCode,
                        Headers = headers.GroupBy(one => one.Key.ToLowerInvariant())
                            .ToDictionary(one => one.Key, one => string.Join(", ", one.SelectMany(each => each.Value))),
                        Body = response.Content.ReadAsByteArrayAsync().ConfigureAwait(false).GetAwaiter().GetResult(),
                    };
                }
            }
        }

        /// <summary>Returns the trusted keys. Fetches them again for an unknown key ID, unless keys are pinned.</summary>
        private List<PublicKey> KeysFor(string kid)
        {
            if (pinned != null) return pinned;
            if (Trusted.All(key => key.Kid != kid))
            {
                var named = serviceProduct == null ? "" : "?product=" + serviceProduct;
                var answer = Send(new Question { Method = "GET", Target = "/.well-known/license-keys.json" + named });
                var fetched = answer.Status == 200 ? PublicKey.In(Json.ObjectIn(answer.Body).Get("keys")) : new List<PublicKey>();
                if (fetched.Count > 0) Trusted = fetched;
            }
            return Trusted;
        }

        private Heard Attempt(string method, string target, byte[] body)
        {
            var question = new Question { Method = method, Target = target, Body = body, Nonce = Base64.Write(Machine.Random(18)) };
            try
            {
                var answer = Send(question);
                var said = answer.Header("retry-after");
                var wait = TimeSpan.FromSeconds(Regex.IsMatch(said, @"\A[0-9]{1,6}\z") ? int.Parse(said) : 0);
                // These statuses are never decisions, whatever the unsigned headers say.
                if (answer.Status == 429 || answer.Status >= 500) return new Heard { Reason = "unreachable", RetryAfter = wait };
                var kid = answer.KeyId;
                if (kid == null) return new Heard { Reason = "untrusted", RetryAfter = wait };
                var seconds = Signed.At(question, answer, KeysFor(kid));
                if (seconds == null) return new Heard { Reason = "untrusted", RetryAfter = wait };
                if (answer.Header("license-verdict") != "final") return new Heard { Reason = "unreachable", RetryAfter = wait };
                return new Heard { Answer = answer, Said = Json.ObjectIn(answer.Body), Seconds = seconds.Value };
            }
            catch (Exception error) when (error is HttpRequestException || error is TaskCanceledException || error is IOException)
            {
                return new Heard { Reason = "unreachable" };
            }
        }

        /// <summary>Retries until there is a decision or the patience is over. Respects Retry-After.</summary>
        internal Heard Ask(string method, string target, byte[] body)
        {
            var clock = Stopwatch.StartNew();
            var spread = new Random();
            for (var pause = TimeSpan.FromMilliseconds(250); ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
            {
                var heard = Attempt(method, target, body);
                if (heard.Reason == null) return heard;
                // Random jitter keeps machines from retrying at the same time.
                var own = TimeSpan.FromTicks((long)(pause.Ticks * (0.5 + spread.NextDouble())));
                var wait = heard.RetryAfter > own ? heard.RetryAfter : own;
                if (clock.Elapsed + wait > patience) return heard;
                Thread.Sleep(wait);
            }
        }
    }
}
