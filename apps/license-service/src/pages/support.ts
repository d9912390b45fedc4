/** Renders the support pages, which find a customer's license and release its slots with one button. */
import { html, type Html } from '@muster/http';
import { type License } from '../operators/license.ts';
import { type SupportPerson } from '../operators/sessions.ts';
import { type DenialRecord, type EventRecord, type MachineRecord } from '../api/records.ts';
import { uploadForm } from './answers.ts';
import { stateBadge } from './customer.ts';
import { formatDay, formatTime, type ServicePage } from './layout.ts';

const productsOf = ({ scopesByProduct }: SupportPerson): string => [...scopesByProduct.keys()].join(', ');

const pageHeader = (supporter: SupportPerson): Html =>
  html`<a href="/support">Search</a>
    <span class="muted"
      >${supporter.name}, ${supporter.scopesByProduct.size === 1 ? 'product' : 'products'}
      ${productsOf(supporter)}</span
    >
    <form method="post" action="/support/sign-out"><button class="button">Sign out</button></form>`;

const searchForm = (query: string): Html =>
  html`<form method="get" action="/support" role="search">
    <label for="q">Order, customer or end of a key</label>
    <div class="ask">
      <input class="field" id="q" name="q" value="${query}" required /><button
        class="button"
        data-kind="main"
      >
        Search
      </button>
    </div>
  </form>`;

/** The columns of the results by their names. */
const licenseColumns: Readonly<Record<string, (license: License) => Html | string>> = {
  License: ({ id, hint }) => html`<a href="/support/licenses/${id}">…${hint}</a>`,
  State: stateBadge,
  Plan: ({ plan }) => plan,
  Product: ({ product }) => product,
  Order: ({ orderRef }) => orderRef ?? '–',
  Customer: ({ customerRef }) => customerRef ?? '–',
  Issued: ({ issuedAt }) => formatDay(issuedAt, '–'),
};

const licenseRow = (license: License, columns: readonly string[]): Html =>
  html`<tr>
    ${columns.map((name) => html`<td data-column="${name}">${licenseColumns[name]?.(license) ?? null}</td>`)}
  </tr>`;

export function searchPage(
  supporter: SupportPerson,
  query: string,
  licenses: readonly License[] | undefined,
): ServicePage {
  const columns = Object.keys(licenseColumns).filter(
    (name) => name !== 'Product' || supporter.scopesByProduct.size > 1,
  );
  return {
    title: 'Support',
    layout: 'whole',
    barContent: pageHeader(supporter),
    body: html`<section class="card">${searchForm(query)}</section>
      ${
        licenses === undefined
          ? null
          : html`<section class="card">
              <h1>${licenses.length === 0 ? 'Nothing found' : `${licenses.length} found`}</h1>
              ${
                licenses.length === 0
                  ? html`<p>
                      No license of ${productsOf(supporter)} matches. Search for an order, a customer or the
                      last four characters of a key.
                    </p>`
                  : html`<table class="table">
                      <thead>
                        <tr>
                          ${columns.map((name) => html`<th scope="col">${name}</th>`)}
                        </tr>
                      </thead>
                      <tbody>
                        ${licenses.map((one) => licenseRow(one, columns))}
                      </tbody>
                    </table>`
              }
            </section>`
      }`,
  };
}

/** Explanations of refusals, with their remedies. */
const refusalExplanations: Readonly<Record<string, string>> = {
  other_machine: 'Other machines use all slots. Release one of them.',
  expired: 'The license had expired. Renew it.',
  suspended: 'The license was suspended. Resume it to allow machines again.',
  revoked: 'The license was revoked permanently.',
  transfers_exhausted: 'The customer had moved it as often as the plan allows. You can release a slot.',
  unactivated: 'A machine tried to release a slot or report usage without holding a slot.',
  meter_exceeded: 'The usage limit was reached. Raise the limit, or reset the usage.',
};

const eventLabels: Readonly<Record<string, string>> = {
  issued: 'Issued',
  imported: 'Imported',
  activated: 'Activated by a machine',
  released: 'Released from a machine',
  transferred: 'Moved to another machine',
  suspended: 'Suspended',
  resumed: 'Resumed',
  revoked: 'Revoked',
  renewed: 'Renewed',
  rotated: 'Key replaced',
  certified: 'Certificate issued by an operator',
  entitled: 'Features, usage limits or updates changed',
  usage_reset: 'Usage reset',
  resized: 'Machine limit changed',
  expiring: 'Expires within a week',
  expired: 'Expired',
};

const actorLabels: Readonly<Record<string, string>> = {
  machine: 'the machine',
  operator: 'an operator',
  customer: 'the customer',
  service: 'the service',
};

const formatEventDetails = (data: EventRecord['data']): string =>
  Object.entries(data)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) =>
      isTime(value)
        ? `${timeLabels[name] ?? name} ${formatTime(new Date(value).toISOString())}`
        : `${detailLabels[name] ?? name} ${String(value)}`,
    )
    .join(', ');

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value);

const detailLabels: Readonly<Record<string, string>> = { machineHint: 'machine' };
const timeLabels: Readonly<Record<string, string>> = {
  expiresAt: 'ends',
  offlineUntil: 'can run offline until',
  before: 'ended before',
};

export interface LicensePageData {
  readonly supporter: SupportPerson;
  readonly license: License;
  readonly machines: readonly MachineRecord[];
  readonly events: readonly EventRecord[];
  readonly denials: readonly DenialRecord[];
  /** The full URL of the customer page for this license. */
  readonly link: string;
  readonly notice?: string;
}

const licenseSection = ({ supporter, license, link }: LicensePageData, mayChange: boolean) =>
  html`<section class="card">
    <h1>License …${license.hint}</h1>
    <dl>
      <dt>State</dt>
      <dd>
        ${stateBadge(license)}${license.reason === null ? null : html` <span class="muted">${license.reason}</span>`}
      </dd>
      <dt>Plan</dt>
      <dd>${license.plan}${supporter.scopesByProduct.size > 1 ? ` of ${license.product}` : ''}</dd>
      <dt>Ends</dt>
      <dd>
        ${formatTime(license.expiresAt, license.durationSeconds === null ? 'never' : 'set at the first activation')}
      </dd>
      <dt>Order</dt>
      <dd>${license.orderRef ?? '–'}</dd>
      <dt>Customer</dt>
      <dd>${license.customerRef ?? '–'}</dd>
      <dt>Transfers</dt>
      <dd>${license.transfers} of ${license.transferLimit}</dd>
      ${
        // The link lets its holder release machines, so the page shows it only to people who may change the
        // license.
        mayChange
          ? html`<dt>Customer’s page</dt>
              <dd><a href="${link}">Open the page of this license</a></dd>`
          : null
      }
    </dl>
  </section>`;

const machinesSection = ({ license, machines }: LicensePageData, mayChange: boolean) =>
  html`<section class="card">
    <h2>Machines: ${machines.length} of ${license.machineLimit}</h2>
    ${
      machines.length === 0
        ? html`<p>No machine uses this license yet.</p>`
        : html`<ul class="rows">
            ${machines.map(
              (machine) =>
                html`<li>
                  <div>
                    Slot ${machine.slot} <span class="muted">${machine.hint}</span><br />
                    <span class="muted"
                      >since ${formatTime(machine.boundAt)}, last seen ${formatTime(machine.lastSeenAt)}, can
                      run offline until ${formatTime(machine.offlineUntil)}</span
                    >
                  </div>
                  ${
                    mayChange
                      ? html`<form method="post" action="/support/licenses/${license.id}/release">
                          <input type="hidden" name="slot" value="${machine.slot}" />
                          <button class="button">Release slot ${machine.slot}</button>
                        </form>`
                      : null
                  }
                </li>`,
            )}
          </ul>`
    }
  </section>`;

const refusalsSection = ({ denials }: LicensePageData) =>
  html`<section class="card">
    <h2>Refused machines</h2>
    ${
      denials.length === 0
        ? html`<p>No machine was refused.</p>`
        : html`<ul class="rows">
            ${denials.map(
              ({ day: at, outcome, count, lastAt }) =>
                html`<li>
                  <div>
                    ${refusalExplanations[outcome] ?? outcome}<br />
                    <span class="muted"
                      >${at}: ${count === 1 ? 'once' : `${count} times`}, last ${formatTime(lastAt)}</span
                    >
                  </div>
                </li>`,
            )}
          </ul>`
    }
  </section>`;

const historySection = ({ events }: LicensePageData) =>
  html`<section class="card">
    <h2>History</h2>
    <ul class="rows">
      ${events.map(
        ({ kind, actor, actorRef, at, data }) =>
          html`<li>
            <div>
              ${eventLabels[kind] ?? kind}<br />
              <span class="muted"
                >${formatTime(at)}, by
                ${actorRef ?? actorLabels[actor] ?? actor}${formatEventDetails(data) === '' ? '' : `: ${formatEventDetails(data)}`}</span
              >
            </div>
          </li>`,
      )}
    </ul>
  </section>`;

export function licensePage(pageData: LicensePageData): ServicePage {
  const { supporter, license, notice: said } = pageData;
  const mayChange = supporter.scopesByProduct.get(license.product)?.includes('change') === true;
  return {
    title: `License …${license.hint}`,
    layout: 'columns',
    barContent: pageHeader(supporter),
    body: html`${said === undefined ? null : html`<section class="card note" role="status"><p>${said}</p></section>`}
      <div class="stack">
        ${licenseSection(pageData, mayChange)} ${machinesSection(pageData, mayChange)}
        ${mayChange ? uploadForm(`/support/licenses/${license.id}/answer`) : null}
      </div>
      <div class="stack">${refusalsSection(pageData)} ${historySection(pageData)}</div>`,
  };
}
