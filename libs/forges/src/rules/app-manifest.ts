/**
 * The manifest of a connection's GitHub App. A form posts it to GitHub, which redirects the browser back with
 * a code for the app's keys.
 * https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */

export interface AppManifestParams {
  readonly connectionId: string;
  /** The public URL of Muster. */
  readonly baseUrl: string;
  readonly webhookUrl: string;
  /** The URL to which GitHub redirects the browser after the app was created. */
  readonly redirectUrl: string;
}

/** The events that `rules/github.ts` reads. */
const subscribedEvents = [
  'push',
  'pull_request',
  'pull_request_review',
  'check_suite',
  'workflow_run',
  'status',
];

/**
 * The permissions that the app needs to send the status `muster`, to poll pull requests, and to receive its
 * events.
 */
const permissions = {
  ...{ checks: 'write', contents: 'read', metadata: 'read', pull_requests: 'read' },
  ...{ statuses: 'read', actions: 'read' },
};

/**
 * Creates the manifest. Names are unique at GitHub and have at most 34 characters. People can change the name
 * in GitHub's form.
 */
export const createManifest = ({ connectionId, baseUrl, webhookUrl, redirectUrl }: AppManifestParams) => ({
  name: `Muster ${connectionId.slice(-12)}`,
  url: baseUrl,
  description:
    'Reports pull requests to Muster, and shows on each head commit which conditions are still unmet.',
  hook_attributes: { url: webhookUrl, active: true },
  redirect_url: redirectUrl,
  public: false,
  default_events: subscribedEvents,
  default_permissions: permissions,
});

/**
 * Returns true if the name is valid for a GitHub organization. Invalid names must not become part of a URL.
 */
export const isOrganizationName = (name: string): boolean =>
  /^[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}$/i.test(name);

/**
 * Returns the URL to which the form posts: that of an organization, or of the person who is signed in at
 * GitHub.
 */
export const newAppUrl = (forgeUrl: string, organization: string | undefined, state: string): string =>
  `${forgeUrl}${organization === undefined ? '' : `/organizations/${organization}`}/settings/apps/new?state=${encodeURIComponent(state)}`;
