/** Routes of the authorization server: endpoints that oidc-provider answers, and the consent pages. */
import { formFieldsOf, requireOwnPage, type Service, addFormParser } from '@muster/http';
import { inSignInTransaction } from '@muster/placement';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { errors, type Provider } from 'oidc-provider';
import { parseCode, formatCode } from '../data/typed-codes.ts';
import { type RouteDependencies } from '../http/parts.ts';
import { createThrottle } from '../http/requests.ts';
import { type RequestingClient, goBackPage } from '../pages/consent.ts';
import { type RequestingDevice, deviceDonePage, devicePage } from '../pages/devices.ts';
import { sendPage } from '../pages/layout.ts';
import { failurePage } from '../pages/pages.ts';
import { vouchingHostOf } from './clients.ts';
import {
  type ConsentRequest,
  handleConsent,
  type ConsentDependencies,
  requireRecentSession,
} from './consent.ts';
import { answerDevice, findDevice } from './devices.ts';
import { addResourceMetadata } from './metadata.ts';
import { type PersonApi } from './own-calls.ts';
import { clientScopes, resolveResource, resourceUrlsOf } from './provider.ts';

export interface OAuthRouteDependencies extends RouteDependencies {
  readonly provider: Provider;
  readonly calls: PersonApi;
  readonly releaseRequestSlot: Service['releaseSlot'];
}

/** Paths that oidc-provider answers. */
const providerPaths = [
  ...['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
  ...['/oauth/authorize', '/oauth/authorize/*', '/oauth/token', '/oauth/revoke', '/oauth/register'],
  ...['/oauth/keys', '/oauth/device/authorize'],
];

/** Paths whose requests are stored for a day before a person has consented. */
const storedRequestPaths: ReadonlySet<string> = new Set(['/oauth/authorize', '/oauth/device/authorize']);

/**
 * The factor by which the rate limit of the paths in `kept` exceeds LIMIT_SIGN_IN. Many agents in an office
 * may share one address, and these requests do not try secrets.
 */
const storedRequestRateFactor = 10;

const requestExpiredPage = failurePage(
  'Request expired',
  'This request has expired or was started in another browser. Return to the program that sent you here and start again.',
  410,
);

/**
 * Returns the URL with the supported scopes and those that they imply. Writing implies reading, and a person
 * may grant less than requested.
 */
export function withSupportedScopes(address: string): string {
  const { pathname, searchParams: params } = new URL(address, 'http://localhost');
  const requestedScopes = (params.get('scope') ?? '').split(' ');
  const highestScopeIndex = clientScopes.findLastIndex((scope) => requestedScopes.includes(scope));
  const known = clientScopes.slice(0, highestScopeIndex === -1 ? 2 : highestScopeIndex + 1);
  params.set(
    'scope',
    [...known, ...(requestedScopes.includes('offline_access') ? ['offline_access'] : [])].join(' '),
  );
  return `${pathname}?${params.toString()}`;
}

export function addOAuthRoutes(app: FastifyInstance, parts: OAuthRouteDependencies): void {
  const { provider, config, throttle, releaseRequestSlot } = parts;
  const { burst, seconds } = config.LIMIT_SIGN_IN;
  const throttleKept = createThrottle({
    burst: burst * storedRequestRateFactor,
    seconds: seconds / storedRequestRateFactor,
  });
  const origin = new URL(config.baseUrl);
  const answer = provider.callback();
  addResourceMetadata(app, config.baseUrl);

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Do not parse bodies, because oidc-provider parses them itself.
    scope.addContentTypeParser('*', (_request, _body, done) => {
      done(null);
    });
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const [path = ''] = request.url.split('?');
      if (path === '/oauth/register') await throttle(request);
      if (storedRequestPaths.has(path)) await throttleKept(request);
      const { raw } = request;
      // Tell the library the URL that browsers use, whatever proxies are between them and this service.
      Object.assign(raw.headers, {
        'x-forwarded-proto': origin.protocol.slice(0, -1),
        'x-forwarded-host': origin.host,
        'x-forwarded-for': request.ip,
      });
      if (path === '/oauth/authorize') raw.url = withSupportedScopes(request.url);
      reply.hijack();
      try {
        await answer(raw, reply.raw);
      } finally {
        // The service does not notice the end of a hijacked reply, so notify it.
        releaseRequestSlot(request);
      }
    };
    for (const url of providerPaths) scope.route({ method: ['GET', 'POST', 'OPTIONS'], url, handler });
  });

  void app.register(async (scope) => {
    addFormParser(scope);
    addConsentRoutes(scope, parts);
    addDeviceRoutes(scope, parts);
  });
}

const toRequestingClient = (
  { clientName, clientId }: { readonly clientName?: string | undefined; readonly clientId: string },
  origin: { readonly redirectUri: string } | { readonly device: RequestingDevice },
): RequestingClient => ({
  name: clientName?.slice(0, 120) ?? 'Unnamed program',
  host: clientId === 'muster-cli' ? 'this installation' : vouchingHostOf(clientId),
  redirectDescription: 'device' in origin ? null : describeRedirectUri(origin.redirectUri),
  device: 'device' in origin ? origin.device : null,
});

/** Describes a redirect URI for a person. */
function describeRedirectUri(redirectUri: string): string {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return 'a program on this computer';
  return protocol === 'https:' ? host : `a program on this computer (${protocol}…)`;
}

function addConsentRoutes(app: FastifyInstance, parts: ConsentDependencies & RouteDependencies): void {
  const { provider, config } = parts;
  const path = '/oauth/consent/:uid';
  const { mcp } = resourceUrlsOf(config.baseUrl);

  /**
   * Returns the authorization request of this browser's flow. Returns undefined if the browser has no flow,
   * or the URL names a different flow.
   */
  async function askedIn(
    { raw, params }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ConsentRequest | undefined> {
    const { uid } = params as { uid: string };
    try {
      // Fails unless this browser started the flow.
      const flow = await provider.interactionDetails(raw, reply.raw);
      const client = await provider.Client.find(String(flow.params['client_id']));
      if (flow.uid !== uid || client === undefined) return undefined;
      const { resource = mcp, scope = '', redirect_uri: redirectUri } = flow.params;
      const named = String([resource].flat()[0]);
      return {
        clientId: client.clientId,
        client: toRequestingClient(client, { redirectUri: String(redirectUri) }),
        ...{ resource: named, audience: resolveResource(config.baseUrl, named) ?? mcp },
        ...{ scopes: String(scope).split(' '), action: `/oauth/consent/${flow.uid}`, hidden: {} },
      };
    } catch (error) {
      if (error instanceof errors.OIDCProviderError) return undefined;
      throw error;
    }
  }

  app.get(path, async (request, reply) => {
    const consentRequest = await askedIn(request, reply);
    if (consentRequest === undefined) return sendPage(reply, requestExpiredPage);
    const answer = await handleConsent(parts, request, consentRequest, {});
    if ('goTo' in answer) return reply.redirect(answer.goTo, 303);
    return sendPage(reply, 'page' in answer ? answer.page : requestExpiredPage);
  });

  app.post(path, { onRequest: requireOwnPage(config.cookie) }, async (request, reply) => {
    const consentRequest = await askedIn(request, reply);
    if (consentRequest === undefined) return sendPage(reply, requestExpiredPage);
    const answer = await handleConsent(parts, request, consentRequest, formFieldsOf(request));
    if ('goTo' in answer) return reply.redirect(answer.goTo, 303);
    if ('page' in answer) return sendPage(reply, answer.page);
    const result =
      'granted' in answer
        ? {
            login: { accountId: answer.granted.accountId, remember: false },
            consent: { grantId: answer.granted.grantId },
          }
        : { error: 'access_denied', error_description: 'the person refused' };
    const back = await provider.interactionResult(request.raw, reply.raw, result, {
      mergeWithLastSubmission: false,
    });
    // Use a refresh instead of a redirect, because the page's policy restricts the targets of form
    // submissions to our own pages.
    const { pathname } = new URL(back);
    void reply.header('refresh', `0;url=${pathname}`);
    return sendPage(reply, goBackPage(consentRequest.client, pathname, 'granted' in answer));
  });
}

function addDeviceRoutes(app: FastifyInstance, parts: ConsentDependencies & RouteDependencies): void {
  const { provider, config, pool, throttle } = parts;
  const action = '/oauth/device';
  const { api } = resourceUrlsOf(config.baseUrl);
  const unknown = 'This code is wrong or has expired. Check it, or get a new one from the program.';

  async function findDeviceConsentRequest(
    typedCode: string,
  ): Promise<(ConsentRequest & { readonly code: string }) | undefined> {
    const code = parseCode(typedCode);
    const device =
      code === undefined ? undefined : await inSignInTransaction(pool, (db) => findDevice(db, code));
    const client = device && (await provider.Client.find(device.clientId));
    if (code === undefined || device === undefined || client === undefined) return undefined;
    const { scopes, resource, origin } = device;
    const asking = toRequestingClient(client, { device: { code: formatCode(code), ...origin } });
    return {
      ...{ code, clientId: client.clientId, client: asking, scopes, action },
      ...{ resource: resource ?? api, audience: resolveResource(config.baseUrl, resource ?? api) ?? api },
      hidden: { user_code: formatCode(code) },
    };
  }

  app.get(action, async (request, reply) => {
    const person = await requireRecentSession(parts, request);
    if ('goTo' in person) return reply.redirect(person.goTo, 303);
    // A link may contain the code, and an attacker may have sent the link, so the person types it from their
    // own device (RFC 8628, 5.4).
    return sendPage(reply, devicePage('', null));
  });

  app.post(action, { onRequest: requireOwnPage(config.cookie) }, async (request, reply) => {
    // Every attempt with a code counts against the rate limit.
    await throttle(request);
    const form = formFieldsOf(request);
    const { user_code: typed = '' } = form;
    const consentRequest = await findDeviceConsentRequest(typed);
    if (consentRequest === undefined) return sendPage(reply, devicePage(typed.slice(0, 12), unknown));
    const answer = await handleConsent(parts, request, consentRequest, form);
    if ('goTo' in answer) return reply.redirect(answer.goTo, 303);
    if ('page' in answer) return sendPage(reply, answer.page);
    const { resource, code } = consentRequest;
    const isTold = await inSignInTransaction(pool, (db) =>
      answerDevice(
        db,
        code,
        'granted' in answer ? { ...answer.granted, resource } : { error: 'access_denied' },
      ),
    );
    return sendPage(
      reply,
      isTold ? deviceDonePage(consentRequest.client.name, 'granted' in answer) : requestExpiredPage,
    );
  });
}
