/**
 * Signing in at a company's identity provider. The issuer and subject identify the account, not the address.
 * An address links a new identity to an account only if the issuer confirms it and is responsible for its
 * domain.
 */
import { formOf, fromOwnPage, pathWithin } from '@muster/http';
import { redirectPath } from '@muster/organizations';
import { inSignIn, type SignInDb } from '@muster/placement';
import { isUuid } from '@muster/registry';
import { type FastifyInstance, type FastifyReply } from 'fastify';
import { type SignInConfig } from '../config.ts';
import { type Account, provideAccount } from '../data/accounts.ts';
import { beginFlow, endFlow } from '../data/flows.ts';
import { findByIdentity, findProvider, noteIdentity, type SignInProvider } from '../data/providers.ts';
import { findSession, proveSession } from '../data/sessions.ts';
import { type Claimed, type IssuerFlow, type Issuers } from '../issuers.ts';
import { issuerOverPage, issuerProblemPage, leadOnPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import { mayEnter } from './enter.ts';
import { type Parts } from './parts.ts';
import { browserOf } from './requests.ts';

const flowMinutes = 15;

/** Reasons why an identity may not sign in, as shown to the person. */
const refusals = {
  address: (name: string) =>
    `${name} didn’t provide a verified e-mail address of your organization. Ask an admin of your organization for help.`,
  unknown: () => 'You’re not in an organization here. Ask an admin to invite your e-mail address.',
} as const;
type Refusal = keyof typeof refusals;

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/**
 * Returns the verified address of an identity, if the issuer is responsible for its domain; otherwise null.
 */
function provenAddress(
  { domains, trustsAddresses }: SignInProvider,
  { email, isVerified }: Claimed,
): string | null {
  if (email === null || !domains.includes(domainOf(email))) return null;
  return (isVerified ?? trustsAddresses) ? email : null;
}

/** Returns the account of an identity, and links a new identity to it; or the reason for a refusal. */
async function accountOf(
  db: SignInDb,
  signUp: SignInConfig['SIGN_UP'],
  provider: SignInProvider,
  claimed: Claimed,
): Promise<Account | Refusal> {
  // Check the address at every sign-in, because an issuer with many customers may have accounts of strangers.
  const email = provenAddress(provider, claimed);
  if (email === null) return 'address';
  const known = await findByIdentity(db, claimed);
  if (known !== undefined) {
    await noteIdentity(db, known.id, claimed, email);
    return known;
  }
  if (!(await mayEnter(db, signUp, email))) return 'unknown';
  const account = await provideAccount(db, email, claimed.name);
  await noteIdentity(db, account.id, claimed, email);
  return account;
}

/** Shows that an issuer cannot be used; the log contains the reason. */
function sayProblem(
  { logger }: Parts,
  reply: FastifyReply,
  { name }: SignInProvider,
  why: { readonly err: unknown; readonly requestId: string },
): FastifyReply {
  logger.warn(why, 'an issuer could not be used to sign in');
  return sendPage(reply, issuerProblemPage(name));
}

type IssuerParts = Parts & { readonly issuers: Issuers };

export function addIssuers(app: FastifyInstance, around: IssuerParts): void {
  addQuestion(app, around);
  addAnswer(app, around);
}

/** Adds the route that redirects a person to an issuer. */
function addQuestion(app: FastifyInstance, around: IssuerParts): void {
  const { pool, config, cookies, throttle, issuers } = around;
  app.post('/auth/issuer', { onRequest: fromOwnPage(config.cookie) }, async (request, reply) => {
    await throttle(request);
    const { provider: id = '', email = '', to } = formOf(request);
    const [provider, session] = await inSignIn(pool, async (db) => [
      isUuid(id) ? await findProvider(db, id) : undefined,
      await findSession(db, cookies.read(request, 'session')),
    ]);
    if (provider === undefined) return sendPage(reply, issuerOverPage);
    const ask = {
      redirectUrl: config.baseUrl + redirectPath(provider.orgId),
      to: pathWithin(to, config.HOME_PATH),
      email: email === '' ? null : email.slice(0, 320),
      isAnew: session !== undefined,
    };
    try {
      const { address, flow } = await issuers.begin(provider, ask);
      const payload = { kind: 'issuer', payload: flow, minutes: flowMinutes } as const;
      cookies.set(reply, 'flow', await inSignIn(pool, (db) => beginFlow(db, payload)));
      // Use a refresh instead of a redirect, because the page's policy restricts the targets of form
      // submissions.
      void reply.header('refresh', `0;url=${address}`);
      return await sendPage(reply, leadOnPage(provider.name, address));
    } catch (error) {
      return sayProblem(around, reply, provider, { err: error, requestId: request.id });
    }
  });
}

/** Adds the route that receives the issuer's response. */
function addAnswer(app: FastifyInstance, around: IssuerParts): void {
  const { pool, config, cookies, throttle, issuers } = around;
  app.get(redirectPath(':organization'), async (request, reply) => {
    await throttle(request);
    const { organization } = request.params as { organization: string };
    const [nonce, before] = [cookies.read(request, 'flow'), cookies.read(request, 'session')];
    // End the flow first. A flow can be used only once, even if signing in fails.
    const [flow, provider] = await inSignIn(pool, async (db) => {
      const begun = await endFlow<IssuerFlow>(db, 'issuer', nonce);
      return [begun, begun && (await findProvider(db, begun.providerId))];
    });
    cookies.clear(reply, 'flow');
    // Reject a response from the issuer of another organization.
    if (flow === undefined || provider === undefined || flow.orgId !== organization)
      return sendPage(reply, issuerOverPage);
    let claimed: Claimed;
    try {
      const { search } = new URL(request.url, config.baseUrl);
      claimed = await issuers.end(
        provider,
        flow,
        new URL(config.baseUrl + redirectPath(organization) + search),
      );
    } catch (error) {
      return sayProblem(around, reply, provider, { err: error, requestId: request.id });
    }
    const entered = await inSignIn(pool, async (db) => {
      const account = await accountOf(db, config.SIGN_UP, provider, claimed);
      if (typeof account === 'string') return { refused: account };
      const proof = `provider:${provider.id}` as const;
      const { provenAt } = claimed;
      return {
        secret: await proveSession(db, account, proof, { browser: browserOf(request), before, provenAt }),
      };
    });
    if ('refused' in entered)
      return sendPage(reply, issuerProblemPage(provider.name, refusals[entered.refused](provider.name)));
    cookies.set(reply, 'session', entered.secret);
    return reply.redirect(flow.to, 303);
  });
}
