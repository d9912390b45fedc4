/** Dependencies that all routes share. */
import { type Pool } from '@muster/driver';
import { type Mailer } from '@muster/outbound/mail';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type SignInConfig } from '../config.ts';
import { type SignInMethods } from '../pages/pages.ts';
import { type SignInCookies } from './requests.ts';

export interface RouteDependencies {
  /** The pool with the role muster_sign_in. */
  readonly pool: Pool;
  /** The configuration; `baseUrl` has no trailing slash. */
  readonly config: SignInConfig & { readonly baseUrl: string };
  readonly cookies: SignInCookies;
  readonly mailer: Mailer;
  readonly logger: Logger;
  readonly ways: SignInMethods;
  /** Counts attempts per address; throws 429 above the limit. */
  readonly throttle: (request: FastifyRequest) => Promise<void>;
}
