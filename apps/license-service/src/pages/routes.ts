/** The pages: a customer's, by the link of a mail; those of support, to who is signed in for that. Forms alone change anything. */
import { forbidden, networkOf, ofFramework, requireRoom, takeForms } from '@muster/http';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { refusalOf } from '../api/refusals.ts';
import { takeUploads } from './answers.ts';
import { problemPage } from './customer.ts';
import { addCustomerRoutes } from './customer-routes.ts';
import { sendPage } from './layout.ts';
import { createPeople, type PeopleOptions } from './people.ts';
import { addSupportRoutes } from './support-routes.ts';

/** A page of another site may not send forms here; browsers say where a form comes from. */
function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn || (site !== undefined && site !== 'same-origin')) throw forbidden('other_origin');
}

const titles: Readonly<Record<number, string>> = {
  403: 'Not possible',
  404: 'Not found',
  413: 'Too long',
  429: 'Too often',
  503: 'Not available at the moment',
};

/** Counts what an address asks for; throws 429. */
async function throttle({ limiter, prefix, rate }: PeopleOptions, { ip }: FastifyRequest): Promise<void> {
  requireRoom(await limiter.take([{ key: `${prefix}:pages:${networkOf(ip)}`, rate }]), 'too_many_attempts');
}

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
      return sendPage(reply, problemPage(titles[status] ?? 'That did not work', message, status));
    });
    app.addHook('onRequest', async (request) => {
      request.operation = 'pages';
      await throttle(options, request);
    });
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

/** A fault of ours, which tells nothing of the inside. */
class Fault {
  readonly status = 500;
  readonly message = 'Something went wrong on our side. Try it once more.';
  readonly retryAfter = undefined;
}
