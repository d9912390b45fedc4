import { minuteOf } from '@muster/terminal';
import { type License, stateOf } from '../operators/license.ts';

const secondsPerDay = 86_400;

export const spanOf = (seconds: number): string =>
  seconds % secondsPerDay === 0 ? `${seconds / secondsPerDay} days` : `${seconds} seconds`;

export function endOf({ expiresAt, durationSeconds }: License): string {
  if (expiresAt !== null) return minuteOf(expiresAt);
  return durationSeconds === null ? 'never' : `${spanOf(durationSeconds)} from activation`;
}

/** All about one license, for people. */
export const licenseLines = (license: License): string[] => [
  `License …${license.hint} (${license.id}), plan ${license.plan}: ${stateOf(license)}${license.reason === null ? '' : `, ${license.reason}`}`,
  `  ends       ${endOf(license)}`,
  `  machine    ${license.boundAt === null ? 'none' : `${license.machineHint ?? '…'}, since ${minuteOf(license.boundAt)}, last seen ${minuteOf(license.lastSeenAt)}`}`,
  `  offline    ${license.offlineUntil === null ? 'no certificate was given' : `until ${minuteOf(license.offlineUntil)} by the last certificate`}`,
  `  transfers  ${license.transfers} of ${license.transferLimit}`,
  `  customer   ${license.customerRef ?? '-'}, order ${license.orderRef ?? '-'}`,
  `  issued     ${minuteOf(license.issuedAt)}, first activated ${minuteOf(license.activatedAt)}`,
];

/** After a change: the license as it is now, with the state in words. */
export const shownLicense = (license: License, lines = licenseLines(license)) => ({
  json: { license: { ...license, state: stateOf(license) } },
  lines,
});
