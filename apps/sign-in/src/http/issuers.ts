/**
 * Signing in at a company's identity provider. The issuer and subject identify the account, not the address.
 * An address links a new identity to an account only if the issuer confirms it and is responsible for its
 * domain.
 */
import { formFieldsOf, requireOwnPage, pathWithinOrigin } from '@muster/http';
import { redirectPath } from '@muster/organizations';
import { inSignInTransaction, type SignInDb } from '@muster/placement';
import { isUuid } from '@muster/contract';
import { type FastifyInstance, type FastifyReply } from 'fastify';
import { type SignInConfig } from '../config.ts';
import { type Account, findOrCreateAccount } from '../data/accounts.ts';
import { beginFlow, consumeFlow } from '../data/flows.ts';
import {
  findAccountByIdentity,
  findProvider,
  recordIdentity,
  type SignInProvider,
} from '../data/providers.ts';
import { findSession, startOrRenewSession } from '../data/sessions.ts';
import { type IssuerClaims, type IssuerFlow, type Issuers } from '../issuers.ts';
import { issuerExpiredPage, issuerProblemPage, continueToIssuerPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import { mayHaveAccount } from './enter.ts';
import { type RouteDependencies } from './parts.ts';
import { browserFactsOf } from './requests.ts';

const flowLifetimeMinutes = 15;

/** Reasons why an identity may not sign in, as shown to the person. */
const refusalMessages = {
  address: (name: string) =>
    `${name} didn’t provide a verified e-mail address of your organization. Ask an admin of your organization for help.`,
  unknown: () => 'You’re not in an organization here. Ask an admin to invite your e-mail address.',
} as const;
type IssuerRefusal = keyof typeof refusalMessages;

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/**
 * Returns the verified address of an identity, if the issuer is responsible for its domain; otherwise null.
 */
function verifiedAddressOf(
  { domains, trustsAddresses }: SignInProvider,
  { email, isVerified }: IssuerClaims,
): string | null {
  if (email === null || !domains.includes(domainOf(email))) return null;
  return (isVerified ?? trustsAddresses) ? email : null;
}

/** Returns the account of an identity, and links a new identity to it; or the reason for a refusal. */
async function findOrLinkAccount(
  db: SignInDb,
  signUp: SignInConfig['SIGN_UP'],
  provider: SignInProvider,
  claims: IssuerClaims,
): Promise<Account | IssuerRefusal> {
  // Check the address at every sign-in, because an issuer with many customers may have accounts of strangers.
  const email = verifiedAddressOf(provider, claims);
  if (email === null) return 'address';
  const known = await findAccountByIdentity(db, claims);
  if (known !== undefined) {
    await recordIdentity(db, known.id, claims, email);
    return known;
  }
  if (!(await mayHaveAccount(db, signUp, email))) return 'unknown';
  const account = await findOrCreateAccount(db, email, claims.name);
  await recordIdentity(db, account.id, claims, email);
  return account;
}

/** Shows that an issuer cannot be used; the log contains the reason. */
function sendIssuerProblem(
  { logger }: RouteDependencies,
  reply: FastifyReply,
  { name }: SignInProvider,
  logFields: { readonly err: unknown; readonly requestId: string },
): FastifyReply {
  logger.warn(logFields, 'an issuer could not be used to sign in');
  return sendPage(reply, issuerProblemPage(name));
}

type IssuerRouteDependencies = RouteDependencies & { readonly issuers: Issuers };

export function addIssuerRoutes(app: FastifyInstance, dependencies: IssuerRouteDependencies): void {
  addIssuerRedirectRoute(app, dependencies);
  addIssuerResponseRoute(app, dependencies);
}

/** Adds the route that redirects a person to an issuer. */
function addIssuerRedirectRoute(app: FastifyInstance, dependencies: IssuerRouteDependencies): void {
  const { pool, config, cookies, throttle, issuers } = dependencies;
  app.post('/auth/issuer', { onRequest: requireOwnPage(config.cookie) }, async (request, reply) => {
    await throttle(request);
    const { provider: id = '', email = '', to } = formFieldsOf(request);
    const [provider, session] = await inSignInTransaction(pool, async (db) => [
      isUuid(id) ? await findProvider(db, id) : undefined,
      await findSession(db, cookies.read(request, 'session')),
    ]);
    if (provider === undefined) return sendPage(reply, issuerExpiredPage);
    const start = {
      redirectUrl: config.baseUrl + redirectPath(provider.orgId),
      to: pathWithinOrigin(to, config.HOME_PATH),
      email: email === '' ? null : email.slice(0, 320),
      isAnew: session !== undefined,
    };
    try {
      const { address, flow } = await issuers.beginSignIn(provider, start);
      const payload = { kind: 'issuer', payload: flow, minutes: flowLifetimeMinutes } as const;
      cookies.set(reply, 'flow', await inSignInTransaction(pool, (db) => beginFlow(db, payload)));
      // Use a refresh instead of a redirect, because the page's policy restricts the targets of form
      // submissions.
      void reply.header('refresh', `0;url=${address}`);
      return await sendPage(reply, continueToIssuerPage(provider.name, address));
    } catch (error) {
      return sendIssuerProblem(dependencies, reply, provider, { err: error, requestId: request.id });
    }
  });
}

/** Adds the route that receives the issuer's response. */
function addIssuerResponseRoute(app: FastifyInstance, dependencies: IssuerRouteDependencies): void {
  const { pool, config, cookies, throttle, issuers } = dependencies;
  app.get(redirectPath(':organization'), async (request, reply) => {
    await throttle(request);
    const { organization } = request.params as { organization: string };
    const [nonce, before] = [cookies.read(request, 'flow'), cookies.read(request, 'session')];
    // End the flow first. A flow can be used only once, even if signing in fails.
    const [flow, provider] = await inSignInTransaction(pool, async (db) => {
      const begun = await consumeFlow<IssuerFlow>(db, 'issuer', nonce);
      return [begun, begun && (await findProvider(db, begun.providerId))];
    });
    cookies.clear(reply, 'flow');
    // Reject a response from the issuer of another organization.
    if (flow === undefined || provider === undefined || flow.orgId !== organization)
      return sendPage(reply, issuerExpiredPage);
    let claimed: IssuerClaims;
    try {
      const { search } = new URL(request.url, config.baseUrl);
      claimed = await issuers.completeSignIn(
        provider,
        flow,
        new URL(config.baseUrl + redirectPath(organization) + search),
      );
    } catch (error) {
      return sendIssuerProblem(dependencies, reply, provider, { err: error, requestId: request.id });
    }
    const entered = await inSignInTransaction(pool, async (db) => {
      const account = await findOrLinkAccount(db, config.SIGN_UP, provider, claimed);
      if (typeof account === 'string') return { refused: account };
      const proof = `provider:${provider.id}` as const;
      const { authenticatedAt: provenAt } = claimed;
      return {
        secret: await startOrRenewSession(db, account, proof, {
          browser: browserFactsOf(request),
          previousSecret: before,
          provenAt,
        }),
      };
    });
    if ('refused' in entered)
      return sendPage(
        reply,
        issuerProblemPage(provider.name, refusalMessages[entered.refused](provider.name)),
      );
    cookies.set(reply, 'session', entered.secret);
    return reply.redirect(flow.to, 303);
  });
}
