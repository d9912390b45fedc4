/** A license service whose support staff sign in with a company's issuer. */
import { afterAll, beforeAll } from '@jest/globals';
import { newId } from '@muster/driver';
import { findFreePort } from '@muster/testing';
import { type CompanyIssuer, useCompanyIssuer } from '@muster/testing/company';
import { createVisitor, type Visitor, type VisitorAnswer } from '@muster/testing/visitor';
import { runCommandLine } from '../src/command-line.ts';
import { makeProduct } from '../src/operators/products.ts';
import { type LicenseWorld, noLimits, openLicenseWorld, type RunningService } from './world.ts';

export const callback = '/support/callback';

export interface Support {
  readonly world: () => LicenseWorld;
  readonly service: () => RunningService;
  readonly company: CompanyIssuer;
  /** The environment of the service, with which a spec can start a second one. */
  readonly environment: () => Record<string, string>;
  readonly visitor: () => Visitor;
  /** Runs an operators' command. Throws unless it exits with 0. */
  readonly run: <Result>(...args: string[]) => Promise<Result>;
  /** Starts a sign-in and returns the address that the browser is sent to. */
  readonly begin: (visitor: Visitor, form?: Record<string, string>) => Promise<string>;
  /** Follows the redirect from the company's issuer back to the service, like a browser. */
  readonly comeBack: (visitor: Visitor, at: string) => Promise<VisitorAnswer>;
  readonly signIn: (subject: string, visitor?: Visitor) => Promise<VisitorAnswer>;
  readonly addEmployee: (claims?: object) => CompanyAccount;
  /** Grants the scopes `read` and `change`. */
  readonly grant: (whom: string, ...more: string[]) => Promise<{ grant: { id: string } }>;
  /** Issues a license and activates it on one machine. */
  readonly sellLicense: (product?: string) => Promise<{ id: string; orderRef: string }>;
  /** Returns true if the visitor is signed in and sees the support pages. */
  readonly isSignedIn: (visitor: Visitor) => Promise<boolean>;
}

/** A person who has an account with the company's issuer. The person has no grant yet. */
export interface CompanyAccount {
  readonly subject: string;
  readonly email: string;
}

/** Starts the service, with the products `default` and `acme`, for the calling spec file. */
export function useSupport(): Support {
  const company = useCompanyIssuer();
  let world: LicenseWorld;
  let service: RunningService;
  let environment: Record<string, string> = {};

  beforeAll(async () => {
    world = await openLicenseWorld();
    await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
    const port = await findFreePort();
    environment = {
      ...{ ...noLimits, LIMIT_OPERATORS: '100000/1', WEBHOOK_NETWORKS: '127.0.0.0/8:*' },
      ...{ BASE_URL: `http://127.0.0.1:${port}`, OPERATORS_ISSUER: company.issuer() },
      ...{ OPERATORS_CLIENT_ID: company.clientId, OPERATORS_CLIENT_SECRET: company.clientSecret },
      OPERATORS_ISSUER_NAME: 'Acme Login',
    };
    service = await world.start({ environment, port });
    company.allowRedirect(service.url + callback);
  });
  afterAll(() => world.close());

  const visitor = (): Visitor => createVisitor(() => service.url);
  const begin: Support['begin'] = async (one, form = {}) => {
    const { headers, text } = await one.submit('/support/issuer', form);
    const refresh = String(headers['refresh'] ?? '');
    if (!refresh.startsWith('0;url=')) throw new Error(text);
    return refresh.slice('0;url='.length);
  };
  const comeBack: Support['comeBack'] = (one, at) => {
    const { pathname, search } = new URL(at);
    return one.open(pathname + search, { 'sec-fetch-site': 'cross-site' });
  };
  const run: Support['run'] = async <Result>(...args: string[]) => {
    let said = '';
    const add = (text: string): void => {
      said += text;
    };
    const code = await runCommandLine([...args, '--json'], {
      environment: { DATABASE_URL: world.url, ...environment },
      ...{ readLines: async () => [], writeStdout: add, writeStderr: add },
    });
    if (code !== 0) throw new Error(`license ${args.join(' ')} ended with ${code}: ${said}`);
    return JSON.parse(said) as Result;
  };
  let orders = 0;
  return {
    ...{ company, visitor, begin, comeBack, run },
    world: () => world,
    service: () => service,
    environment: () => environment,
    addEmployee: (claims = {}) => {
      const subject = newId();
      const email = `${subject}@acme.example`;
      company.people.set(subject, { email, email_verified: true, name: 'Eve Example', ...claims });
      return { subject, email };
    },
    grant: (whom, ...more) => run('operator', 'grant', whom, '--scope', 'read,change', ...more),
    sellLicense: async (product = 'default') => {
      orders += 1;
      const orderRef = `order-${orders}`;
      const { id, key } = await world.issue({ product, orderRef });
      await service.activate(key, 'laptop-of-ana', { 'license-product': product });
      return { id, orderRef };
    },
    signIn: async (subject, one = visitor()) =>
      comeBack(one, await company.signIn(await begin(one), subject)),
    isSignedIn: async (one) => (await one.open('/support')).text.includes('role="search"'),
  };
}
