// The license state of a machine.

using System.Collections.Generic;

namespace Muster.Licenses
{
    /// <summary>The license state: may the program run, on which basis, and with which features.</summary>
    public sealed class Standing
    {
        private static readonly Dictionary<string, string> Messages = new Dictionary<string, string>
        {
            { "no_license", "No license was activated on this machine." },
            { "unreachable", "The license service does not answer." },
            { "untrusted", "What answered was not the license service." },
            { "certificate_not_genuine", "The certificate of this machine is not genuine." },
            { "certificate_of_another_machine", "The certificate is of another machine." },
            { "certificate_ended", "The certificate has ended, and the license service does not answer." },
            { "clock_turned_back", "The clock of this machine was turned back." },
            { "trial_ended", "The trial on this machine has ended." },
            { "answer_of_another_request", "The response does not belong to a request of this machine, or it is outdated." },
            { "not_activated", "This license is not active on this machine." },
            { "active_on_another_machine", "This license is active on another machine." },
            { "license_expired", "This license has expired." },
            { "license_suspended", "This license is suspended." },
            { "license_revoked", "This license was revoked." },
            { "refused", "The license service refused this license." },
            { "released", "The license was given back." },
        };

        private static readonly Dictionary<string, string> Reasons = new Dictionary<string, string>
        {
            { "unactivated", "not_activated" },
            { "other_machine", "active_on_another_machine" },
            { "expired", "license_expired" },
            { "suspended", "license_suspended" },
            { "revoked", "license_revoked" },
        };

        private Dictionary<string, object> features = new Dictionary<string, object>();

        private Standing()
        {
        }

        /// <summary>True if the program may run.</summary>
        public bool MayRun { get; private set; }

        /// <summary>A message for people.</summary>
        public string Message { get; private set; }

        /// <summary>`active` or the reason of a refusal: `license_revoked`, `active_on_another_machine`, `certificate_ended`, `unreachable`, …</summary>
        public string Reason { get; private set; }

        /// <summary>True if the service has refused. Otherwise the program may ask again.</summary>
        public bool IsFinal { get; private set; }

        /// <summary>The basis: `service` or `certificate`; null if the program may not run.</summary>
        public string By { get; private set; }

        /// <summary>The plan of the license.</summary>
        public string Plan { get; private set; }

        /// <summary>True for a trial without a key.</summary>
        public bool IsTrial { get; private set; }

        /// <summary>The end of offline use, in seconds since 1970; null if the program may not run.</summary>
        public long? OfflineUntil { get; private set; }

        /// <summary>Returns true if a feature is on or its number is positive.</summary>
        public bool Has(string feature) => features.Get(feature) as bool? == true || Limit(feature) > 0;

        /// <summary>Returns the number of a feature; null if the license has no number for it.</summary>
        public long? Limit(string feature) => Members.Whole(features.Get(feature));

        internal bool IsNoAnswer => Reason == "unreachable" || Reason == "untrusted";

        internal static Standing No(string reason, bool isFinal = false)
        {
            string message;
            if (!Messages.TryGetValue(reason, out message)) message = Messages["refused"];
            return new Standing { Reason = reason, IsFinal = isFinal, Message = message };
        }

        internal static Standing Yes(string by, string plan, Certificate certificate)
        {
            var standing = new Standing { MayRun = true, Reason = "active", By = by, Plan = plan };
            standing.Message = "Licensed, plan " + plan + ", by the " + by + ".";
            if (certificate == null) return standing;
            standing.OfflineUntil = certificate.Exp;
            standing.features = certificate.Features;
            standing.IsTrial = certificate.IsOfTrial;
            return standing;
        }

        /// <summary>Makes a refusal with the message of the service, which also locates a typo.</summary>
        internal static Standing Refused(Heard heard) => Refused(heard.Said.Object("details"), heard.Said.Text("message"));

        /// <summary>Makes the refusal of a carried answer.</summary>
        internal static Standing Carried(Dictionary<string, object> said) => Refused(said, said.Text("message"));

        private static Standing Refused(Dictionary<string, object> why, string message)
        {
            var standing = No(why.Text("reason") ?? "refused", why.Get("retryable") as bool? != true);
            standing.Message = message ?? standing.Message;
            return standing;
        }

        /// <summary>Makes the refusal of a check. The refusal itself is signed; its reason comes from an unsigned header.</summary>
        internal static Standing OfState(string state)
        {
            string reason;
            return No(Reasons.TryGetValue(state, out reason) ? reason : "refused", true);
        }
    }
}
