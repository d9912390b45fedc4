/** What all routes need. */
import { type Pool } from '@muster/driver';
import { type Mailer } from '@muster/outbound/mail';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Config } from '../config.ts';
import { type Ways } from '../pages/pages.ts';
import { type Cookies } from './requests.ts';

export interface Parts {
  /** Of the role muster_sign_in. */
  readonly pool: Pool;
  /** `baseUrl` has no slash at its end. */
  readonly config: Config & { readonly baseUrl: string };
  readonly cookies: Cookies;
  readonly mailer: Mailer;
  readonly logger: Logger;
  readonly ways: Ways;
  /** Counts what an address tries; throws 429. */
  readonly throttle: (request: FastifyRequest) => Promise<void>;
}
