/** Routes of the home page, the customer pages and the support pages. Only POST forms change anything. */
import {
  acceptsHtml,
  type RenderErrorPage,
  errorTitle,
  forbidden,
  networkOf,
  fromFrameworkError,
  requireWithinLimits,
  addFormParser,
} from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { apiErrorOf } from '../api/refusals.ts';
import { baseUrlOf } from '../api/routes.ts';
import { addUploadParser } from './answers.ts';
import { problemPage } from './customer.ts';
import { addCustomerRoutes } from './customer-routes.ts';
import { homePage } from './home.ts';
import { renderPage, sendPage } from './layout.ts';
import { createSupportSignIn, type SupportPagesOptions } from './people.ts';
import { addSupportRoutes } from './support-routes.ts';

/** Throws unless the Origin header, which browsers set, shows that the form comes from this site. */
function requireFormOfThisSite({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn || (site !== undefined && site !== 'same-origin')) throw forbidden('other_origin');
}

/** Rate-limits requests per address. Throws 429. */
async function rateLimitRequest(
  { limiter, prefix, rate }: SupportPagesOptions,
  { ip }: FastifyRequest,
): Promise<void> {
  requireWithinLimits(
    await limiter.take([{ key: `${prefix}:pages:${networkOf(ip)}`, rate }]),
    'too_many_attempts',
  );
}

/** Renders an error as a page for browsers. This includes errors that no page raised, such as overload. */
export const errorPage: RenderErrorPage = (request, { status, message }) =>
  acceptsHtml(request) ? renderPage(problemPage(errorTitle(status), message, status)) : undefined;

export function addPages(root: FastifyInstance, options: SupportPagesOptions): void {
  const people = createSupportSignIn(options);
  void root.register(async (app) => {
    addFormParser(app);
    addUploadParser(app);
    app.setErrorHandler((error, request, reply) => {
      const known = fromFrameworkError(error) ?? apiErrorOf(error);
      if (known === undefined)
        options.logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      const { status, message, retryAfter } = known ?? new Fault();
      if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
      return sendPage(reply, problemPage(errorTitle(status), message, status));
    });
    app.addHook('onRequest', async (request) => {
      request.operation = 'pages';
      await rateLimitRequest(options, request);
    });
    app.get('/', (request, reply) => sendPage(reply, homePage(baseUrlOf(options, request))));
    await app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        if (request.method === 'POST') requireFormOfThisSite(request);
      });
      addCustomerRoutes(scope, options);
    });
    await app.register(async (scope) => {
      people.addRoutes(scope);
      addSupportRoutes(scope, { options, supportSignIn: people });
    });
  });
}

/** The response for an unexpected error. It has no internal details. */
class Fault {
  readonly status = 500;
  readonly message = 'Something went wrong on the server. Try again.';
  readonly retryAfter = undefined;
}
