/** A Muster to go on tour in. */
export interface Instance {
  readonly baseUrl: string;
  /** Where its MCP gateway is; null where it has none. */
  readonly mcpUrl: string | null;
  /** Of a login that owns the tables. */
  readonly databaseUrl: string;
  readonly is: string;
  /** Where its worker writes mails; null where none does. */
  readonly mailFolder: string | null;
  /** What the API said last, where it is ours to hear. */
  readonly tail: () => readonly string[];
  readonly stop: () => Promise<void>;
}
