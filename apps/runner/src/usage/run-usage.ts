/** Adds up what the agent of a run uses, and reports the totals to Muster by renewing the lease. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { type HeldLease } from '@muster/client';
import { UsageReport } from '@muster/contract';
import { z } from 'zod';
import { maxUsage, type ModelUsage, sumUsage, type UsageChange } from './model-usage.ts';

/** The time between two reports. */
const reportIntervalMillis = 10_000;
/** Further models of a run are ignored. */
const maxModels = 50;

type Totals = Map<string, ModelUsage>;

const StoredTotals: z.ZodType<ModelUsage[]> = z.array(
  UsageReport.required({ inputTokens: true, outputTokens: true, cachedTokens: true, currency: true }),
);

const keyOf = ({ currency, model }: ModelUsage): string => `${currency} ${model}`;

export class RunUsage {
  readonly #lease: Pick<HeldLease, 'renew' | 'isOver'>;
  readonly #file: string;
  /** The totals of the processes that ended. */
  #earlier: Totals = new Map();
  readonly #current: Totals = new Map();
  readonly #reported = new Map<string, string>();
  #reportedAt = -Infinity;
  #reporting: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** The totals are stored in `file`, so that a runner that continues the run adds to them. */
  constructor(lease: Pick<HeldLease, 'renew' | 'isOver'>, file: string) {
    this.#lease = lease;
    this.#file = file;
  }

  /** Reads the totals that an earlier runner stored. */
  async restore(): Promise<void> {
    const stored: unknown = await readFile(this.#file, 'utf8')
      .then(JSON.parse)
      .catch(() => undefined);
    for (const usage of StoredTotals.safeParse(stored).data ?? []) this.#earlier.set(keyOf(usage), usage);
  }

  /** Call this when the agent's process starts, before its first usage. Its totals begin at zero. */
  beginProcess(): void {
    this.#earlier = this.#sum();
    this.#current.clear();
  }

  add(change: UsageChange | undefined): void {
    for (const usage of change?.usage ?? []) {
      const key = keyOf(usage);
      const before = this.#current.get(key);
      const isNew = before === undefined && !this.#earlier.has(key);
      if (isNew && this.#current.size + this.#earlier.size >= maxModels) continue;
      this.#current.set(key, change?.kind === 'total' ? maxUsage(usage, before) : sumUsage(usage, before));
    }
    if (change !== undefined) this.#schedule();
  }

  totals(): ModelUsage[] {
    return [...this.#sum().values()];
  }

  /** Reports the totals that changed since the last report. A stop in the answer reaches the run as a signal. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reporting = this.#reporting.then(() => this.#report());
    return this.#reporting;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #sum(): Totals {
    const sum = new Map(this.#earlier);
    for (const [key, usage] of this.#current) sum.set(key, sumUsage(usage, sum.get(key)));
    return sum;
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const delay = Math.max(0, this.#reportedAt + reportIntervalMillis - performance.now());
    this.#timer = setTimeout(() => void this.flush(), delay).unref();
  }

  async #report(): Promise<void> {
    this.#reportedAt = performance.now();
    const totals = this.totals();
    if (totals.every((usage) => this.#reported.get(keyOf(usage)) === JSON.stringify(usage))) return;
    await this.#store(totals).catch(() => undefined);
    for (const usage of totals) {
      const [key, text] = [keyOf(usage), JSON.stringify(usage)];
      if (this.#lease.isOver()) return;
      if (this.#reported.get(key) === text) continue;
      try {
        await this.#lease.renew({ usage });
        this.#reported.set(key, text);
      } catch {
        this.#schedule();
        return;
      }
    }
  }

  async #store(totals: readonly ModelUsage[]): Promise<void> {
    await writeFile(`${this.#file}.new`, JSON.stringify(totals));
    await rename(`${this.#file}.new`, this.#file);
  }
}
