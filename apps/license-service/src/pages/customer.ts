/** Renders the page of a license for its customer. */
import { html, type Html } from '@muster/http';
import { type License, stateOf } from '../operators/license.ts';
import { type MachineRecord } from '../api/records.ts';
import { type MeterUsageRecord } from '../meters.ts';
import { type DownloadableRelease } from '../releases/latest.ts';
import { uploadForm } from './answers.ts';
import { formatDay, formatTime, type ServicePage } from './layout.ts';

export const stateLabels: Readonly<Record<ReturnType<typeof stateOf>, string>> = {
  unactivated: 'not in use',
  active: 'in use',
  expired: 'expired',
  suspended: 'suspended',
  revoked: 'revoked',
};

const stateTones: Readonly<Record<ReturnType<typeof stateOf>, string>> = {
  ...{ unactivated: 'none', active: 'good' },
  ...{ expired: 'wait', suspended: 'wait', revoked: 'bad' },
};

export const stateBadge = (license: License): Html => {
  const state = stateOf(license);
  return html`<span class="state" data-tone="${stateTones[state]}">${stateLabels[state]}</span>`;
};

/** Descriptions of the states in which no machine may use a license, as the end of a sentence. */
const unusableStateTexts = {
  expired: 'has expired',
  suspended: 'is suspended',
  revoked: 'was revoked',
} as const;
const unusableTextOf = (license: License): string | undefined => {
  const state = stateOf(license);
  return state in unusableStateTexts
    ? unusableStateTexts[state as keyof typeof unusableStateTexts]
    : undefined;
};

const canCustomerRelease = (license: License): boolean =>
  unusableTextOf(license) === undefined &&
  (license.leaseSeconds !== null || license.transfers < license.transferLimit);

const machineItem = (license: License, link: string, machine: MachineRecord, position: number): Html =>
  html`<li>
    <div>
      Machine ${position}
      <span class="muted">(id ends with ${machine.hint.replace('…', '') || 'nothing shown'})</span><br />
      <span class="muted"
        >since ${formatTime(machine.boundAt)}, last seen ${formatTime(machine.lastSeenAt)}</span
      >
    </div>
    ${
      canCustomerRelease(license)
        ? html`<form method="post" action="/my/${link}/release">
            <input type="hidden" name="slot" value="${machine.slot}" />
            <button class="button">Release<span class="muted"> machine ${position}</span></button>
          </form>`
        : null
    }
  </li>`;

export interface CustomerPageData {
  readonly license: License;
  readonly machines: readonly MachineRecord[];
  readonly link: string;
  readonly usage: readonly MeterUsageRecord[];
  /** The latest release that the license may download. */
  readonly release: DownloadableRelease | undefined;
  /** Set after a machine was released: the time until which that machine may still run on its certificate. */
  readonly releasedMachine?: { readonly offlineUntil: string | null };
}

const formatCount = (count: number): string => count.toLocaleString('en-US');

/** Lists the usage of each meter in the current period. */
const usageSection = (usage: readonly MeterUsageRecord[]): Html | null =>
  usage.length === 0
    ? null
    : html`<section class="card">
        <h2>Usage</h2>
        <dl>
          ${usage.map(
            ({ meter, period, used, limit }) =>
              html`<dt>${meter}</dt>
                <dd>
                  ${formatCount(used)}${limit === null ? '' : ` of ${formatCount(limit)}`}
                  <span class="${limit !== null && used >= limit ? 'form-error' : 'muted'}"
                    >${period === 'total' ? 'in total' : 'this month'}${
                      limit === null || used < limit
                        ? ''
                        : used === limit
                          ? ', limit reached'
                          : ', over the limit'
                    }</span
                  >
                </dd>`,
          )}
        </dl>
      </section>`;

const formatBytes = (bytes: number): string =>
  bytes < 1_000_000
    ? `${formatCount(Math.ceil(bytes / 1_000))} kB`
    : `${formatCount(Math.round(bytes / 1_000_000))} MB`;

/** Lists the files of the latest release. */
const downloadsSection = (link: string, release: DownloadableRelease | undefined): Html | null =>
  release?.downloadsUrl == null
    ? null
    : html`<section class="card">
        <h2>Downloads</h2>
        <p>
          Version ${release.version}, published
          ${formatDay(release.publishedAt, '–')}${
            release.notesUrl === null ? null : html` · <a href="${release.notesUrl}">Release notes</a>`
          }
        </p>
        <ul class="rows">
          ${release.artifacts.map(
            ({ name, platform, size, sha256 }) =>
              html`<li>
                <div>
                  <a
                    href="/my/${link}/download/${encodeURIComponent(release.version)}/${encodeURIComponent(name)}"
                    >${name}</a
                  >
                  <span class="muted">${platform}, ${formatBytes(size)}</span><br />
                  <span class="muted">SHA-256 ${sha256}</span>
                </div>
              </li>`,
          )}
        </ul>
      </section>`;

export function customerPage({
  license,
  machines,
  link,
  usage,
  release,
  releasedMachine,
}: CustomerPageData): ServicePage {
  const left = Math.max(license.transferLimit - license.transfers, 0);
  const { leaseSeconds, machineLimit } = license;
  const over = unusableTextOf(license);
  const offline = releasedMachine?.offlineUntil ?? null;
  return {
    title: 'Your license',
    layout: 'columns',
    body: html`${
        releasedMachine === undefined
          ? null
          : html`<section class="card note" role="status">
              <p>Machine released. The next machine that you activate takes its place.</p>
              ${offline !== null && Date.parse(offline) > Date.now() ? html`<p class="muted">Without a connection, the released machine can run until ${formatTime(offline)}.</p>` : null}
            </section>`
      }
      <div class="stack">
        <section class="card">
          <h1>Your license …${license.hint}</h1>
          <dl>
            <dt>State</dt>
            <dd>${stateBadge(license)}</dd>
            <dt>Plan</dt>
            <dd>${license.plan}</dd>
            <dt>Ends</dt>
            <dd>
              ${formatDay(license.expiresAt, license.durationSeconds === null ? 'never' : 'set at the first activation')}
            </dd>
            <dt>Machines</dt>
            <dd>${machines.length} of ${machineLimit}</dd>
          </dl>
        </section>
        ${usageSection(usage)}
      </div>
      <div class="stack">
        <section class="card">
          <h2>Machines</h2>
          ${over === undefined ? null : html`<p class="form-error">This license ${over}. No machine can use it. Contact the seller.</p>`}
          ${
            machines.length === 0
              ? over !== undefined
                ? null
                : html`<p>
                    No machine uses this license yet. Enter the key on the machine that should use it.
                  </p>`
              : html`<ul class="rows">
                  ${machines.map((machine, index) => machineItem(license, link, machine, index + 1))}
                </ul>`
          }
          ${
            over !== undefined || leaseSeconds !== null || machines.length === 0
              ? null
              : left === 0
                ? html`<p class="form-error">
                    This license has reached the number of machine changes that its plan allows. Contact the
                    seller to move it.
                  </p>`
                : html`<p class="muted">
                    The next machine that you activate takes the place of a released one. You can release
                    ${left === 1 ? 'one more time' : `${left} more times`}.
                  </p>`
          }
        </section>
        ${downloadsSection(link, release)} ${over === undefined ? uploadForm(`/my/${link}/answer`) : null}
      </div>`,
  };
}

export const problemPage = (title: string, message: string, status: number): ServicePage => ({
  ...{ title, status },
  body: html`<section class="card">
    <h1>${title}</h1>
    <p>${message}</p>
  </section>`,
});
