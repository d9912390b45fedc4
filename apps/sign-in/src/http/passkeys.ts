/**
 * Passkeys: a browser signs a challenge from this server, after verifying its user. A challenge is valid
 * once, for a few minutes, and for this origin. A passkey authenticates a person as a link does.
 */
import { newId } from '@muster/driver';
import { forbidden, formFieldsOf, requireOwnPage, pathWithinOrigin } from '@muster/http';
import { renderPasskeyMail } from '@muster/organizations';
import { inSignInTransaction } from '@muster/placement';
import { badRequest, isUuid, PasskeyName, identityProofValidMinutes, unauthorized } from '@muster/contract';
import { parseWith } from '@muster/runtime';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Account } from '../data/accounts.ts';
import {
  beginCeremony,
  deletePasskey,
  consumeCeremony,
  storePasskey,
  listCredentials,
  listPasskeys,
  findAndLockPasskey,
  recordPasskeyUse,
  renamePasskey,
} from '../data/passkeys.ts';
import { findSession, startOrRenewSession } from '../data/sessions.ts';
import { sendPage } from '../pages/layout.ts';
import { passkeysPage, passkeysPath } from '../pages/passkeys.ts';
import { relyingPartyIdOf } from '../relying-party.ts';
import { PasskeyAuthenticationBody, PasskeyRegistrationBody } from './passkey-bodies.ts';
import { type RouteDependencies } from './parts.ts';
import { browserFactsOf } from './requests.ts';

const invalidPasskeyMessage = 'Not a valid passkey.';

const sendJson = (reply: FastifyReply, body: object): FastifyReply =>
  reply
    .header('cache-control', 'no-store')
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));

/** The origin and relying-party ID that browsers sign for. */
interface PasskeyRouteDependencies extends RouteDependencies {
  readonly rpID: string;
  readonly verificationExpectations: {
    readonly expectedOrigin: string;
    readonly expectedRPID: string;
    readonly requireUserVerification: true;
  };
}

export function addPasskeyRoutes(app: FastifyInstance, dependencies: RouteDependencies): void {
  const { baseUrl, cookie } = dependencies.config;
  const rpID = relyingPartyIdOf(baseUrl);
  if (rpID === undefined) return;
  const expected = {
    expectedOrigin: cookie.origin,
    expectedRPID: rpID,
    requireUserVerification: true,
  } as const;
  const site: PasskeyRouteDependencies = { ...dependencies, rpID, verificationExpectations: expected };
  addPasskeysPageRoutes(app, site);
  addRegistrationRoutes(app, site);
  addAuthenticationRoutes(app, site);
}

const fetchSession = ({ pool, cookies }: PasskeyRouteDependencies, request: FastifyRequest) =>
  inSignInTransaction(pool, (db) => findSession(db, cookies.read(request, 'session')));

/** Returns the account of a recently authenticated session. Throws 401 and 403. */
async function requireRecentlyProvenAccount(
  site: PasskeyRouteDependencies,
  request: FastifyRequest,
): Promise<Account> {
  const session = await fetchSession(site, request);
  if (session === undefined) throw unauthorized();
  if (!session.isRecentlyProven)
    throw forbidden('proof_needed', undefined, { at: '/sign-in?again', minutes: identityProofValidMinutes });
  return session.account;
}

/** Notifies the person by e-mail, because another person may have made the change. */
function notifyOfPasskeyChange(
  { config, mailer, logger }: PasskeyRouteDependencies,
  request: FastifyRequest,
  { email: to }: Account,
  change: 'added' | 'removed',
  name: string,
): void {
  const mail = renderPasskeyMail({ to, change, name, baseUrl: config.baseUrl });
  mailer.send(mail, newId()).catch((error: unknown) => {
    logger.error({ err: error, requestId: request.id }, 'a person could not be told of a passkey');
  });
}

/** Adds the page of a person's passkeys, and its forms. */
function addPasskeysPageRoutes(app: FastifyInstance, site: PasskeyRouteDependencies): void {
  const { pool, config } = site;
  const onRequest = requireOwnPage(config.cookie);

  app.get(passkeysPath, async (request, reply) => {
    const session = await fetchSession(site, request);
    if (session === undefined) return reply.redirect(`/sign-in?to=${passkeysPath}`, 303);
    const passkeys = await inSignInTransaction(pool, (db) => listPasskeys(db, session.account.id));
    return sendPage(
      reply,
      passkeysPage(session.account, passkeys, { mayChange: session.isRecentlyProven, problem: null }),
    );
  });

  // Renaming requires no recent authentication, because the name is only a label. The operation
  // passkeys.rename requires none either.
  app.post('/auth/passkeys/rename', { onRequest }, async (request, reply) => {
    const session = await fetchSession(site, request);
    if (session === undefined) return reply.redirect('/sign-in', 303);
    const { passkey = '', name: typed = '' } = formFieldsOf(request);
    const name = PasskeyName.safeParse(typed);
    if (!name.success) {
      const passkeys = await inSignInTransaction(pool, (db) => listPasskeys(db, session.account.id));
      const problem = 'Enter a name of 1 to 120 characters.';
      return sendPage(
        reply,
        passkeysPage(session.account, passkeys, { mayChange: session.isRecentlyProven, problem }),
      );
    }
    if (isUuid(passkey))
      await inSignInTransaction(pool, (db) => renamePasskey(db, session.account.id, passkey, name.data));
    return reply.redirect(passkeysPath, 303);
  });

  app.post('/auth/passkeys/delete', { onRequest }, async (request, reply) => {
    const session = await fetchSession(site, request);
    if (session === undefined) return reply.redirect('/sign-in', 303);
    if (!session.isRecentlyProven) return reply.redirect(`/sign-in?again&to=${passkeysPath}`, 303);
    const { passkey = '' } = formFieldsOf(request);
    const removed = isUuid(passkey)
      ? await inSignInTransaction(pool, (db) => deletePasskey(db, session.account.id, passkey))
      : undefined;
    if (removed !== undefined) notifyOfPasskeyChange(site, request, session.account, 'removed', removed);
    return reply.redirect(passkeysPath, 303);
  });
}

/** Adds the routes with which a recently authenticated person adds a passkey. */
function addRegistrationRoutes(app: FastifyInstance, site: PasskeyRouteDependencies): void {
  const { pool, config, cookies, throttle, rpID, verificationExpectations: expected } = site;
  const onRequest = requireOwnPage(config.cookie);

  app.post('/auth/passkeys/options', { onRequest }, async (request, reply) => {
    await throttle(request);
    const account = await requireRecentlyProvenAccount(site, request);
    const excludeCredentials = await inSignInTransaction(pool, (db) => listCredentials(db, account.id));
    const options = await generateRegistrationOptions({
      ...{ rpName: 'Muster', rpID, userName: account.email, userDisplayName: account.name },
      userID: new TextEncoder().encode(account.id),
      excludeCredentials,
      attestationType: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const ceremony = { challenge: options.challenge, accountId: account.id };
    cookies.set(reply, 'passkey', await inSignInTransaction(pool, (db) => beginCeremony(db, ceremony)));
    return sendJson(reply, options);
  });

  app.post('/auth/passkeys', { onRequest }, async (request, reply) => {
    await throttle(request);
    const account = await requireRecentlyProvenAccount(site, request);
    const { name, response } = parseWith(PasskeyRegistrationBody, request.body, invalidPasskeyMessage);
    const nonce = cookies.read(request, 'passkey');
    const ceremony = await inSignInTransaction(pool, (db) => consumeCeremony(db, nonce));
    if (ceremony?.accountId !== account.id) throw unauthorized();
    const verified = await verifyRegistrationResponse({
      ...{ ...expected, response, expectedChallenge: ceremony.challenge },
    }).catch(() => undefined);
    if (verified?.verified !== true) throw unauthorized();
    const { credential, credentialBackedUp } = verified.registrationInfo;
    const { id, publicKey, counter } = credential;
    const passkey = { credentialId: id, publicKey, counter, name, isSynced: credentialBackedUp };
    const transports = credential.transports ?? [];
    const isKept = await inSignInTransaction(pool, (db) =>
      storePasskey(db, account.id, { ...passkey, transports }),
    );
    if (!isKept)
      throw badRequest('This passkey already exists, or you have reached the maximum number of passkeys.');
    notifyOfPasskeyChange(site, request, account, 'added', name);
    cookies.clear(reply, 'passkey');
    return sendJson(reply, { to: passkeysPath });
  });
}

/** Adds the routes that authenticate a person by a passkey. */
function addAuthenticationRoutes(
  app: FastifyInstance,
  { pool, config, cookies, throttle, rpID, verificationExpectations: expected }: PasskeyRouteDependencies,
): void {
  const onRequest = requireOwnPage(config.cookie);

  // The options name no account, so they do not reveal which accounts exist. Browsers know their passkeys for
  // this origin.
  app.post('/auth/passkey/options', { onRequest }, async (request, reply) => {
    await throttle(request);
    const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' });
    const ceremony = { challenge: options.challenge, accountId: null };
    cookies.set(reply, 'passkey', await inSignInTransaction(pool, (db) => beginCeremony(db, ceremony)));
    return sendJson(reply, options);
  });

  app.post('/auth/passkey', { onRequest }, async (request, reply) => {
    await throttle(request);
    const { to, response } = parseWith(PasskeyAuthenticationBody, request.body, invalidPasskeyMessage);
    const [nonce, before] = [cookies.read(request, 'passkey'), cookies.read(request, 'session')];
    // End the ceremony first. A ceremony can be used only once, even if it fails.
    const ceremony = await inSignInTransaction(pool, (db) => consumeCeremony(db, nonce));
    if (ceremony === undefined || ceremony.accountId !== null) throw unauthorized();
    const secret = await inSignInTransaction(pool, async (db) => {
      const passkey = await findAndLockPasskey(db, response.id);
      if (passkey === undefined) throw unauthorized();
      const { credentialId: id, publicKey, counter } = passkey;
      // A counter that did not increase indicates a copied passkey. The library rejects it.
      const verified = await verifyAuthenticationResponse({
        ...{ ...expected, response, expectedChallenge: ceremony.challenge },
        credential: { id, publicKey, counter },
      }).catch(() => undefined);
      if (verified?.verified !== true) throw unauthorized();
      const { newCounter, credentialBackedUp } = verified.authenticationInfo;
      await recordPasskeyUse(db, passkey.id, newCounter, credentialBackedUp);
      return startOrRenewSession(db, passkey.account, 'passkey', {
        browser: browserFactsOf(request),
        previousSecret: before,
      });
    });
    cookies.clear(reply, 'passkey');
    cookies.set(reply, 'session', secret);
    return sendJson(reply, { to: pathWithinOrigin(to, config.HOME_PATH) });
  });
}
