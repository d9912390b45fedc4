/** Sign-in to the support pages, with the operators' issuer or, without one, by a token. */
import {
  ConfigError,
  type Cookies,
  createCookies,
  formFieldsOf,
  pathWithinOrigin,
  requireSameOrigin,
  type SessionCookie,
  sessionCookieOf,
  userAgentOf,
} from '@muster/http';
import {
  createIssuerSignIn,
  type IssuerIdentity,
  type IssuerSignInState,
  type IssuerSignIn,
} from '@muster/outbound/issuer-sign-in';
import { type Issuer } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { baseUrlOf, type OperatorsOptions } from '../api/routes.ts';
import {
  listGrantedClaims,
  recordGrantUse,
  type IssuerPerson,
  grantedScopesByProduct,
  bindGrantsToPerson,
} from '../operators/grants.ts';
import {
  storeSignInFlow,
  beginSession,
  type OperatorBrowser,
  takeSignInFlow,
  endSession,
  findSession,
  maxSessionSeconds,
  type SupportPerson,
} from '../operators/sessions.ts';
import { findToken } from '../operators/tokens.ts';
import { type Db, inTransaction, RefusedError } from '../operators/transaction.ts';
import { type ServicePage, sendPage } from './layout.ts';
import {
  issuerProblemPage,
  continueToIssuerPage,
  notGrantedPage,
  signInExpiredPage,
  signInPage,
} from './sign-in.ts';

/** The OpenID Connect issuer that has the accounts of support staff. */
export interface OperatorsIssuer extends Issuer {
  /** The name on the sign-in button. */
  readonly name: string;
}

export interface SupportSignIn {
  /** Returns the session cookie settings. Throws if the connection is not secure. */
  readonly cookieFor: (request: FastifyRequest) => SessionCookie;
  readonly sessionOf: (db: Db, request: FastifyRequest) => Promise<SupportPerson | undefined>;
  readonly signInPage: (request: FastifyRequest) => ServicePage;
  readonly addRoutes: (app: FastifyInstance) => void;
}

const signInFlowSeconds = 900;
const callbackPath = '/support/callback';

interface SignInFlow extends IssuerSignInState {
  /** The path that the browser opens after sign-in. */
  readonly to: string;
}

const VerifiedAddress = z.email().max(320);
const maxSubjectLength = 255;

/** Returns the values of a claim, which may be a single value or a list. */
const claimValuesOf = (claim: unknown): string[] =>
  [claim].flat().filter((one): one is string => typeof one === 'string');

/** Returns the verified e-mail address of a person; undefined if the issuer has none. */
const verifiedEmailOf = ({ email, isVerified }: IssuerIdentity): string | undefined => {
  const read = VerifiedAddress.safeParse(email);
  return read.success && isVerified === true ? read.data : undefined;
};

export interface SupportPagesOptions extends OperatorsOptions {
  /** The issuer; undefined if people sign in by token. */
  readonly issuer: OperatorsIssuer | undefined;
  /** The HTTP client for calls to the issuer. */
  readonly sender: Sender;
}

/** Returns the session cookie settings. Throws Refused if the connection is not secure. */
function sessionCookieFor(options: SupportPagesOptions, request: FastifyRequest): SessionCookie {
  const baseUrl = baseUrlOf(options, request);
  try {
    if (URL.canParse(baseUrl)) return sessionCookieOf(baseUrl, 'license-support');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  throw new RefusedError(
    'not_https',
    'sign-in needs https; behind a proxy the service needs BASE_URL or TRUST_PROXY',
  );
}

const requestCookiesOf = (
  options: SupportPagesOptions,
  request: FastifyRequest,
): Cookies<'session' | 'flow'> =>
  createCookies(sessionCookieFor(options, request), { session: maxSessionSeconds, flow: signInFlowSeconds });

const browserOf = (options: SupportPagesOptions, request: FastifyRequest): OperatorBrowser => ({
  ip: request.ip,
  userAgent: userAgentOf(request),
  previousSecret: requestCookiesOf(options, request).read(request, 'session'),
});

const returnPathOf = (requestedPath: unknown): string => pathWithinOrigin(requestedPath, '/support');

const signInPageFor = (
  { issuer }: SupportPagesOptions,
  request: FastifyRequest,
  problem?: string,
): ServicePage => {
  const { to } = formFieldsOf(request);
  return signInPage({
    ...{ issuerName: issuer?.name, to: request.method === 'GET' ? request.url : returnPathOf(to), problem },
  });
};

/** Starts the session of an authenticated person and returns its secret, or a page if they have no grant. */
async function startPersonSession(
  db: Db,
  answer: IssuerIdentity,
  browser: OperatorBrowser,
): Promise<string | ServicePage> {
  const { subject, claims: said } = answer;
  const claims = (await listGrantedClaims(db))
    .filter(({ claim, value }) => claimValuesOf(said[claim]).includes(value))
    .map(({ claim, value }) => `${claim}=${value}`);
  const person: IssuerPerson = { issuer: answer.issuer, subject, claims };
  const address = verifiedEmailOf(answer);
  if (address !== undefined) await bindGrantsToPerson(db, person, address);
  const rights = await grantedScopesByProduct(db, person);
  if (rights.size === 0) return notGrantedPage({ address, subject: subject.slice(0, maxSubjectLength) });
  await recordGrantUse(db, person);
  const name = address ?? subject.replaceAll(/\p{Cc}/gu, '').slice(0, maxSubjectLength);
  return beginSession(db, { person, name }, browser);
}

function addIssuerSignInRoutes(
  app: FastifyInstance,
  options: SupportPagesOptions,
  operatorsIssuer: OperatorsIssuer,
): void {
  const { pool, logger } = options;
  const signIn: IssuerSignIn = createIssuerSignIn(options.sender);
  const sayProblem = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    logger.warn({ err: error, requestId: request.id }, 'the issuer could not be used to sign in');
    return sendPage(reply, issuerProblemPage(operatorsIssuer.name));
  };
  const redirectUrlOf = (request: FastifyRequest): string => baseUrlOf(options, request) + callbackPath;

  app.post('/support/issuer', async (request, reply) => {
    let begun: Awaited<ReturnType<IssuerSignIn['startSignIn']>>;
    try {
      begun = await signIn.startSignIn(operatorsIssuer, {
        ...{ redirectUrl: redirectUrlOf(request), email: null, maxAuthAgeSeconds: null },
      });
    } catch (error) {
      return sayProblem(request, reply, error);
    }
    const { authorizationUrl: address, question } = begun;
    const flow: SignInFlow = { ...question, to: returnPathOf(formFieldsOf(request)['to']) };
    const nonce = await inTransaction(pool, (db) => storeSignInFlow(db, flow, signInFlowSeconds));
    requestCookiesOf(options, request).set(reply, 'flow', nonce);
    // The page is not sent as a redirect, because the form-action policy of the sign-in page lets a form lead
    // only to listed origins.
    void reply.header('refresh', `0;url=${address}`);
    return sendPage(reply, continueToIssuerPage(operatorsIssuer.name, address));
  });

  app.post('/support/sign-in', (request, reply) =>
    sendPage(reply, signInPageFor(options, request, 'You can’t sign in with a token here.')),
  );

  app.get(callbackPath, async (request, reply) => {
    const cookies = requestCookiesOf(options, request);
    // One attempt uses up the nonce, even if it fails.
    const nonce = cookies.read(request, 'flow');
    const { flow, needed } = await inTransaction(pool, async (db) => ({
      flow: await takeSignInFlow<SignInFlow>(db, nonce),
      needed: (await listGrantedClaims(db)).map(({ claim }) => claim),
    }));
    cookies.clear(reply, 'flow');
    if (flow === undefined) return sendPage(reply, signInExpiredPage);
    const here = redirectUrlOf(request);
    let answer: IssuerIdentity;
    try {
      const { search } = new URL(request.url, here);
      answer = await signIn.finishSignIn(operatorsIssuer, flow, new URL(here + search), ['email', ...needed]);
    } catch (error) {
      return sayProblem(request, reply, error);
    }
    const admitted = await inTransaction(pool, (db) =>
      startPersonSession(db, answer, browserOf(options, request)),
    );
    if (typeof admitted !== 'string') return sendPage(reply, admitted);
    cookies.set(reply, 'session', admitted);
    return reply.redirect(flow.to, 303);
  });
}

function addTokenSignInRoutes(app: FastifyInstance, options: SupportPagesOptions): void {
  const { pool } = options;
  app.post('/support/sign-in', async (request, reply) => {
    const { token: given = '', to } = formFieldsOf(request);
    const entered = await inTransaction(pool, async (db) => {
      const token = await findToken(db, given.trim());
      if (token === undefined) return { problem: 'This token is unknown, expired or revoked.' };
      if (!token.scopes.includes('read')) return { problem: 'This token does not have the scope read.' };
      return { secret: await beginSession(db, { token }, browserOf(options, request)) };
    });
    if ('problem' in entered) return sendPage(reply, signInPageFor(options, request, entered.problem));
    requestCookiesOf(options, request).set(reply, 'session', entered.secret);
    return reply.redirect(returnPathOf(to), 303);
  });
}

export function createSupportSignIn(options: SupportPagesOptions): SupportSignIn {
  const { pool, issuer } = options;
  return {
    cookieFor: (request) => sessionCookieFor(options, request),
    sessionOf: (db, request) =>
      findSession(db, requestCookiesOf(options, request).read(request, 'session'), issuer?.issuer),
    signInPage: (request) => signInPageFor(options, request),
    addRoutes: (app) => {
      app.addHook('onRequest', async (request) => {
        const cookie = sessionCookieFor(options, request);
        if (request.method === 'POST') requireSameOrigin(request, cookie);
      });
      if (issuer === undefined) addTokenSignInRoutes(app, options);
      else addIssuerSignInRoutes(app, options, issuer);
      app.post('/support/sign-out', async (request, reply) => {
        const cookies = requestCookiesOf(options, request);
        const secret = cookies.read(request, 'session');
        if (secret !== undefined) await inTransaction(pool, (db) => endSession(db, secret));
        cookies.clear(reply, 'session');
        return reply.redirect('/support', 303);
      });
    },
  };
}
