/** Routes of the home page, the customer pages and the support pages. Only POST forms change anything. */
import {
  acceptsPages,
  type ErrorPage,
  errorTitle,
  forbidden,
  networkOf,
  ofFramework,
  requireRoom,
  takeForms,
} from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { refusalOf } from '../api/refusals.ts';
import { baseUrlOf } from '../api/routes.ts';
import { takeUploads } from './answers.ts';
import { problemPage } from './customer.ts';
import { addCustomerRoutes } from './customer-routes.ts';
import { homePage } from './home.ts';
import { renderPage, sendPage } from './layout.ts';
import { createPeople, type PeopleOptions } from './people.ts';
import { addSupportRoutes } from './support-routes.ts';

/** Throws unless the Origin header, which browsers set, shows that the form comes from this site. */
function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn || (site !== undefined && site !== 'same-origin')) throw forbidden('other_origin');
}

/** Rate-limits requests per address. Throws 429. */
async function throttle({ limiter, prefix, rate }: PeopleOptions, { ip }: FastifyRequest): Promise<void> {
  requireRoom(await limiter.take([{ key: `${prefix}:pages:${networkOf(ip)}`, rate }]), 'too_many_attempts');
}

/** Renders an error as a page for browsers. This includes errors that no page raised, such as overload. */
export const errorPage: ErrorPage = (request, { status, message }) =>
  acceptsPages(request) ? renderPage(problemPage(errorTitle(status), message, status)) : undefined;

export function addPages(root: FastifyInstance, options: PeopleOptions): void {
  const people = createPeople(options);
  void root.register(async (app) => {
    takeForms(app);
    takeUploads(app);
    app.setErrorHandler((error, request, reply) => {
      const known = ofFramework(error) ?? refusalOf(error);
      if (known === undefined)
        options.logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      const { status, message, retryAfter } = known ?? new Fault();
      if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
      return sendPage(reply, problemPage(errorTitle(status), message, status));
    });
    app.addHook('onRequest', async (request) => {
      request.operation = 'pages';
      await throttle(options, request);
    });
    app.get('/', (request, reply) => sendPage(reply, homePage(baseUrlOf(options, request))));
    await app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        if (request.method === 'POST') requireOwnPage(request);
      });
      addCustomerRoutes(scope, options);
    });
    await app.register(async (scope) => {
      people.addRoutes(scope);
      addSupportRoutes(scope, { options, people });
    });
  });
}

/** The response for an unexpected error. It has no internal details. */
class Fault {
  readonly status = 500;
  readonly message = 'Something went wrong on the server. Try again.';
  readonly retryAfter = undefined;
}
