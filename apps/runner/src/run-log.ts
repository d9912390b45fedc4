/**
 * Reports a run to Muster, and sends its output while the agent works. Lines are collected in memory and sent in batches,
 * so the agent never waits for a call, and an outage costs only the oldest lines.
 */
import { stripVTControlCharacters } from 'node:util';
import { type Client, MusterError } from '@muster/client';
import { maxLinesPerLogEvent, type RunLogStream } from '@muster/contract';
import { isOutage } from './take.ts';

/** Lines that arrive within this time are sent together. */
const batchIntervalMillis = 2_000;
/** The interval between attempts while Muster is unreachable. */
const retryIntervalMillis = 10_000;
const maxBufferedLines = 2_000;
const maxBufferedChars = 1_000_000;
/** Keeps a batch of lines well below the limit of a request's body. */
const maxBatchChars = 60_000;
/** A character has at most 3 bytes in UTF-8, so a line stays within the 8 KiB that Muster accepts. */
const maxLineChars = 2_000;

interface BufferedLine {
  readonly stream: RunLogStream;
  readonly message: string;
}

interface RunLogOptions {
  /** A client whose calls are not retried. */
  readonly client: Client;
  readonly run: { readonly projectId: string; readonly runId: string; readonly executionId: string };
  /** Texts that must not leave the machine. */
  readonly secrets: readonly string[];
}

/** Shorter values may be ordinary words, and hiding them would make a log unreadable. */
const minSecretChars = 8;

/** Lines that wait to be sent. The oldest ones are dropped if Muster does not take them in time. */
class LineBuffer {
  #lines: BufferedLine[] = [];
  #chars = 0;
  #droppedCount = 0;

  add(line: BufferedLine): void {
    this.#lines.push(line);
    this.#chars += line.message.length;
    while (this.#lines.length > maxBufferedLines || this.#chars > maxBufferedChars) {
      this.#chars -= this.#lines.shift()?.message.length ?? 0;
      this.#droppedCount += 1;
    }
  }

  /** Removes and returns the next lines to send, after a notice about dropped ones. */
  takeBatch(): BufferedLine[] {
    const dropped = this.#droppedCount;
    const batch: BufferedLine[] =
      dropped === 0
        ? []
        : [{ stream: 'stderr', message: `${dropped} lines were not sent to Muster in time.` }];
    this.#droppedCount = 0;
    for (let chars = 0; batch.length < maxLinesPerLogEvent && chars <= maxBatchChars;) {
      const line = this.#lines.shift();
      if (line === undefined) break;
      batch.push(line);
      chars += line.message.length;
      this.#chars -= line.message.length;
    }
    return batch;
  }
}

export class RunLog {
  readonly #options: RunLogOptions;
  readonly #secrets: readonly string[];
  readonly #lines = new LineBuffer();
  /** The batch that is being sent, until Muster has confirmed it. */
  #batch: BufferedLine[] = [];
  #batchNumber = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isClosed = false;

  /** Reports in the background that the run has started. */
  constructor(options: RunLogOptions) {
    this.#options = options;
    this.#secrets = options.secrets.filter((secret) => secret.length >= minSecretChars);
    void this.#send();
  }

  addLine(line: string, stream: RunLogStream): void {
    if (this.#isClosed) return;
    this.#lines.add({ stream, message: this.#toMessage(line) });
    this.#schedule(batchIntervalMillis);
  }

  /** Sends the lines that are left. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#send();
    // A batch on its way may have been taken before the last lines came.
    await this.#send();
  }

  /** Stops sending. Lines that are left are discarded. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #toMessage(line: string): string {
    const plain = stripVTControlCharacters(line).replaceAll('\0', '');
    const redacted = this.#secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), plain);
    return redacted.slice(0, maxLineChars).toWellFormed();
  }

  #schedule(delayMillis: number): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, delayMillis).unref();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Sends batches until no line is left, or Muster cannot be reached. */
  async #sendAll(): Promise<void> {
    try {
      await this.#reportStart();
      while (!this.#isClosed && this.#prepareBatch()) {
        await this.#options.client.agents.runEvent({
          ...{ ...this.#options.run, kind: 'log', lines: this.#batch },
          // A repeated batch is recognized, so an answer that was lost doubles no line.
          dedupeKey: `log ${process.pid} ${this.#batchNumber}`,
        });
        this.#batch = [];
      }
    } catch (error) {
      // A refusal means that the run has ended or its token was revoked, so nothing more can be sent.
      if (error instanceof MusterError && !isOutage(error)) this.close();
      else this.#schedule(retryIntervalMillis);
    }
  }

  async #reportStart(): Promise<void> {
    if (this.#isStarted || this.#isClosed) return;
    await this.#options.client.agents.runEvent({ ...this.#options.run, kind: 'started' });
    this.#isStarted = true;
  }

  /** Takes the next batch unless one is left over. Returns false if there is no line to send. */
  #prepareBatch(): boolean {
    if (this.#batch.length > 0) return true;
    this.#batch = this.#lines.takeBatch();
    this.#batchNumber += 1;
    return this.#batch.length > 0;
  }
}
