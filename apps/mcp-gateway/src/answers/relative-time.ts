/** Writes times as a model reasons about them: `in 7 min`, `3 h ago`. */

/** Matches a time of the contract: ISO 8601 in UTC with milliseconds. */
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
] as const;

/** Times further away than this are dates, because their distance says little. */
const maxRelativeSeconds = 60 * 86_400;

/** Returns the time relative to now. A text that is no time of the contract is returned unchanged. */
export function relativeTime(text: string, nowMillis: number): string {
  if (!timePattern.test(text)) return text;
  const seconds = Math.trunc((Date.parse(text) - nowMillis) / 1_000);
  const distance = Math.abs(seconds);
  if (Number.isNaN(seconds)) return text;
  if (distance > maxRelativeSeconds) return text.slice(0, 10);
  // Use the largest unit of which there are at least two, so that `90 min` is not rounded to `1 h`.
  const unit = units.find((one) => distance >= 2 * one.seconds) ?? units[3];
  const amount = `${Math.floor(distance / unit.seconds)} ${unit.name}`;
  if (seconds === 0) return 'now';
  return seconds > 0 ? `in ${amount}` : `${amount} ago`;
}
