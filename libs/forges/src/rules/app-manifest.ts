/**
 * What a GitHub App of a connection is made of, by GitHub's manifest flow: a form with this is posted to GitHub, which sends
 * the browser back with a code for the app's keys.
 * https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */

export interface AppToMake {
  readonly connectionId: string;
  /** Where Muster is. */
  readonly baseUrl: string;
  readonly webhookUrl: string;
  /** Where GitHub sends the browser when the app is made. */
  readonly redirectUrl: string;
}

/** What `rules/github.ts` reads. */
const events = ['push', 'pull_request', 'pull_request_review', 'check_suite', 'workflow_run', 'status'];

/** What the status `muster`, the poller and these events need. */
const permissions = {
  ...{ checks: 'write', contents: 'read', metadata: 'read', pull_requests: 'read' },
  ...{ statuses: 'read', actions: 'read' },
};

/** A name is GitHub's alone, and 34 characters at most; people change it in GitHub's own form. */
export const manifestOf = ({ connectionId, baseUrl, webhookUrl, redirectUrl }: AppToMake) => ({
  name: `Muster ${connectionId.slice(-12)}`,
  url: baseUrl,
  description: 'Tells Muster what becomes of pull requests, and says at each head what is missing.',
  hook_attributes: { url: webhookUrl, active: true },
  redirect_url: redirectUrl,
  public: false,
  default_events: events,
  default_permissions: permissions,
});

/** What GitHub calls an organization; what is none goes into no address. */
export const isOrganizationName = (name: string): boolean =>
  /^[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}$/i.test(name);

/** Where the form is posted to: of an organization, or of who is signed in at GitHub. */
export const newAppUrl = (forgeUrl: string, organization: string | undefined, state: string): string =>
  `${forgeUrl}${organization === undefined ? '' : `/organizations/${organization}`}/settings/apps/new?state=${encodeURIComponent(state)}`;
