/** Sign-in to the support pages, with the operators' issuer or, without one, by a token. */
import {
  ConfigError,
  type Cookies,
  cookiesOf,
  formOf,
  pathWithin,
  requireSameOrigin,
  type SessionCookie,
  sessionCookieOf,
  userAgentOf,
} from '@muster/http';
import {
  createIssuerSignIn,
  type IssuerAnswer,
  type IssuerQuestion,
  type IssuerSignIn,
} from '@muster/outbound/issuer-sign-in';
import { type Issuer } from '@muster/outbound/issuers';
import { type Sender } from '@muster/outbound/sender';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { baseUrlOf, type OperatorsOptions } from '../api/routes.ts';
import {
  claimsAskedFor,
  noteUseOfGrants,
  type IssuerPerson,
  rightsOf,
  takeUpGrants,
} from '../operators/grants.ts';
import {
  beginFlow,
  beginSession,
  type OperatorBrowser,
  endFlow,
  endSession,
  findSession,
  sessionSeconds,
  type Supporter,
} from '../operators/sessions.ts';
import { findToken } from '../operators/tokens.ts';
import { type Db, inTransaction, Refused } from '../operators/transaction.ts';
import { type ServicePage, sendPage } from './layout.ts';
import { issuerProblemPage, leadOnPage, notGrantedPage, overPage, signInPage } from './sign-in.ts';

/** The OpenID Connect issuer that has the accounts of support staff. */
export interface OperatorsIssuer extends Issuer {
  /** The name on the sign-in button. */
  readonly name: string;
}

export interface SupportSignIn {
  /** Returns the session cookie settings. Throws if the connection is not secure. */
  readonly cookieFor: (request: FastifyRequest) => SessionCookie;
  readonly sessionOf: (db: Db, request: FastifyRequest) => Promise<Supporter | undefined>;
  readonly signInPage: (request: FastifyRequest) => ServicePage;
  readonly addRoutes: (app: FastifyInstance) => void;
}

const flowSeconds = 900;
const callbackPath = '/support/callback';

interface Flow extends IssuerQuestion {
  /** The path that the browser opens after sign-in. */
  readonly to: string;
}

const Address = z.email().max(320);
const mostOfSubject = 255;

/** Returns the values of a claim, which may be a single value or a list. */
const valuesOf = (claim: unknown): string[] =>
  [claim].flat().filter((one): one is string => typeof one === 'string');

/** Returns the verified e-mail address of a person; undefined if the issuer has none. */
const addressOf = ({ email, isVerified }: IssuerAnswer): string | undefined => {
  const read = Address.safeParse(email);
  return read.success && isVerified === true ? read.data : undefined;
};

export interface PeopleOptions extends OperatorsOptions {
  /** The issuer; undefined if people sign in by token. */
  readonly issuer: OperatorsIssuer | undefined;
  /** The HTTP client for calls to the issuer. */
  readonly sender: Sender;
}

/** Returns the session cookie settings. Throws Refused if the connection is not secure. */
function cookieFor(options: PeopleOptions, request: FastifyRequest): SessionCookie {
  const baseUrl = baseUrlOf(options, request);
  try {
    if (URL.canParse(baseUrl)) return sessionCookieOf(baseUrl, 'license-support');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  throw new Refused(
    'not_https',
    'sign-in needs https; behind a proxy the service needs BASE_URL or TRUST_PROXY',
  );
}

const cookiesFor = (options: PeopleOptions, request: FastifyRequest): Cookies<'session' | 'flow'> =>
  cookiesOf(cookieFor(options, request), { session: sessionSeconds, flow: flowSeconds });

const browserOf = (options: PeopleOptions, request: FastifyRequest): OperatorBrowser => ({
  ip: request.ip,
  userAgent: userAgentOf(request),
  before: cookiesFor(options, request).read(request, 'session'),
});

const toOf = (named: unknown): string => pathWithin(named, '/support');

const pageFor = ({ issuer }: PeopleOptions, request: FastifyRequest, problem?: string): ServicePage => {
  const { to } = formOf(request);
  return signInPage({
    ...{ issuerName: issuer?.name, to: request.method === 'GET' ? request.url : toOf(to), problem },
  });
};

/** Starts the session of an authenticated person and returns its secret, or a page if they have no grant. */
async function admit(db: Db, answer: IssuerAnswer, browser: OperatorBrowser): Promise<string | ServicePage> {
  const { subject, claims: said } = answer;
  const claims = (await claimsAskedFor(db))
    .filter(({ claim, value }) => valuesOf(said[claim]).includes(value))
    .map(({ claim, value }) => `${claim}=${value}`);
  const person: IssuerPerson = { issuer: answer.issuer, subject, claims };
  const address = addressOf(answer);
  if (address !== undefined) await takeUpGrants(db, person, address);
  const rights = await rightsOf(db, person);
  if (rights.size === 0) return notGrantedPage({ address, subject: subject.slice(0, mostOfSubject) });
  await noteUseOfGrants(db, person);
  const name = address ?? subject.replaceAll(/\p{Cc}/gu, '').slice(0, mostOfSubject);
  return beginSession(db, { person, name }, browser);
}

function addByIssuer(app: FastifyInstance, options: PeopleOptions, at: OperatorsIssuer): void {
  const { pool, logger } = options;
  const signIn: IssuerSignIn = createIssuerSignIn(options.sender);
  const sayProblem = (request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply => {
    logger.warn({ err: error, requestId: request.id }, 'the issuer could not be used to sign in');
    return sendPage(reply, issuerProblemPage(at.name));
  };
  const redirectUrlOf = (request: FastifyRequest): string => baseUrlOf(options, request) + callbackPath;

  app.post('/support/issuer', async (request, reply) => {
    let begun: Awaited<ReturnType<IssuerSignIn['begin']>>;
    try {
      begun = await signIn.begin(at, {
        ...{ redirectUrl: redirectUrlOf(request), email: null, provenWithinSeconds: null },
      });
    } catch (error) {
      return sayProblem(request, reply, error);
    }
    const { address, question } = begun;
    const flow: Flow = { ...question, to: toOf(formOf(request)['to']) };
    const nonce = await inTransaction(pool, (db) => beginFlow(db, flow, flowSeconds));
    cookiesFor(options, request).set(reply, 'flow', nonce);
    // The page is not sent as a redirect, because the form-action policy of the sign-in page lets a form lead
    // only to listed origins.
    void reply.header('refresh', `0;url=${address}`);
    return sendPage(reply, leadOnPage(at.name, address));
  });

  app.post('/support/sign-in', (request, reply) =>
    sendPage(reply, pageFor(options, request, 'You can’t sign in with a token here.')),
  );

  app.get(callbackPath, async (request, reply) => {
    const cookies = cookiesFor(options, request);
    // One attempt uses up the nonce, even if it fails.
    const nonce = cookies.read(request, 'flow');
    const { flow, needed } = await inTransaction(pool, async (db) => ({
      flow: await endFlow<Flow>(db, nonce),
      needed: (await claimsAskedFor(db)).map(({ claim }) => claim),
    }));
    cookies.clear(reply, 'flow');
    if (flow === undefined) return sendPage(reply, overPage);
    const here = redirectUrlOf(request);
    let answer: IssuerAnswer;
    try {
      const { search } = new URL(request.url, here);
      answer = await signIn.end(at, flow, new URL(here + search), ['email', ...needed]);
    } catch (error) {
      return sayProblem(request, reply, error);
    }
    const admitted = await inTransaction(pool, (db) => admit(db, answer, browserOf(options, request)));
    if (typeof admitted !== 'string') return sendPage(reply, admitted);
    cookies.set(reply, 'session', admitted);
    return reply.redirect(flow.to, 303);
  });
}

function addByToken(app: FastifyInstance, options: PeopleOptions): void {
  const { pool } = options;
  app.post('/support/sign-in', async (request, reply) => {
    const { token: given = '', to } = formOf(request);
    const entered = await inTransaction(pool, async (db) => {
      const token = await findToken(db, given.trim());
      if (token === undefined) return { problem: 'This token is unknown, expired or revoked.' };
      if (!token.scopes.includes('read')) return { problem: 'This token does not have the scope read.' };
      return { secret: await beginSession(db, { token }, browserOf(options, request)) };
    });
    if ('problem' in entered) return sendPage(reply, pageFor(options, request, entered.problem));
    cookiesFor(options, request).set(reply, 'session', entered.secret);
    return reply.redirect(toOf(to), 303);
  });
}

export function createPeople(options: PeopleOptions): SupportSignIn {
  const { pool, issuer } = options;
  return {
    cookieFor: (request) => cookieFor(options, request),
    sessionOf: (db, request) =>
      findSession(db, cookiesFor(options, request).read(request, 'session'), issuer?.issuer),
    signInPage: (request) => pageFor(options, request),
    addRoutes: (app) => {
      app.addHook('onRequest', async (request) => {
        const cookie = cookieFor(options, request);
        if (request.method === 'POST') requireSameOrigin(request, cookie);
      });
      if (issuer === undefined) addByToken(app, options);
      else addByIssuer(app, options, issuer);
      app.post('/support/sign-out', async (request, reply) => {
        const cookies = cookiesFor(options, request);
        const secret = cookies.read(request, 'session');
        if (secret !== undefined) await inTransaction(pool, (db) => endSession(db, secret));
        cookies.clear(reply, 'session');
        return reply.redirect('/support', 303);
      });
    },
  };
}
