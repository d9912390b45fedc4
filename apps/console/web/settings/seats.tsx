/** Shows the plan, and previews the cost of another number of seats. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type Proration } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { Failed, Loading } from '../components/states.tsx';
import { exactDay } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Label, Section, useWrite } from './components.tsx';
import { seatsQuery } from './queries.ts';

const money = (amount: number, currency: string): string => {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  // Amounts are in minor units of the currency.
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};

const Figure = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="figure">
    <dt className="muted">{name}</dt>
    <dd className="tabular">{children}</dd>
  </div>
);

const Preview = ({ proration }: { readonly proration: Proration }) => (
  <table className="table" aria-live="polite">
    <tbody>
      {proration.lines.map(({ kind, seats, days, amount }) => (
        <tr key={kind}>
          <th scope="row">{s.seats.lines[kind](seats, days)}</th>
          <td className="tabular number">{money(amount, proration.currency)}</td>
        </tr>
      ))}
      <tr className="total">
        <th scope="row">
          {s.seats.total}, {s.seats.until(exactDay(proration.to))}
        </th>
        <td className="tabular number">{money(proration.amount, proration.currency)}</td>
      </tr>
    </tbody>
  </table>
);

function Change({ seats }: { readonly seats: number }) {
  const { billing } = useClient();
  const [wanted, setWanted] = useState(String(seats));
  const [proration, setProration] = useState<Proration | null>(null);
  const { isBusy, run } = useWrite();
  const count = Number(wanted);
  const isOther = Number.isInteger(count) && count > 0 && count !== seats;
  const preview = (): Promise<boolean> =>
    run(async () => setProration((await billing.updateSeats({ seats: count, preview: true })).proration));
  const apply = async (): Promise<void> => {
    if (await run(() => billing.updateSeats({ seats: count }), s.seats.applied(count))) setProration(null);
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void preview();
      }}
    >
      <div className="form-row">
        <Label name={s.seats.seats}>
          <input
            className="field"
            type="number"
            inputMode="numeric"
            min={1}
            max={1_000_000}
            required
            value={wanted}
            onChange={({ target }) => {
              setWanted(target.value);
              setProration(null);
            }}
          />
        </Label>
      </div>
      {proration !== null && <Preview proration={proration} />}
      <div className="form-foot">
        {proration === null ? (
          <button type="submit" className="button" disabled={isBusy || !isOther}>
            {s.seats.preview}
          </button>
        ) : (
          <button
            type="button"
            className="button"
            data-kind="main"
            disabled={isBusy}
            onClick={() => void apply()}
          >
            {s.seats.apply}
          </button>
        )}
      </div>
    </form>
  );
}

export function Seats() {
  const { member } = useIdentity();
  const seats = useQuery(seatsQuery(useClient()));
  if (seats.data === undefined)
    return seats.error === null ? (
      <Loading label={s.loading} rows={3} />
    ) : (
      <Failed error={seats.error} again={() => void seats.refetch()} />
    );
  const { pricing, usage, entitlement } = seats.data;
  return (
    <>
      <Section id="seats" title={s.sections.seats} intro={s.seats.intro}>
        <dl className="figures">
          <Figure name={s.seats.plan}>
            {s.seats.plans[entitlement.plan]}{' '}
            <span className="muted">{s.seats.statuses[entitlement.status]}</span>
          </Figure>
          <Figure name={s.seats.bought}>{usage.purchased.toLocaleString()}</Figure>
          <Figure name={s.seats.held}>{usage.used.toLocaleString()}</Figure>
          <Figure name={s.seats.pending}>{usage.pending.toLocaleString()}</Figure>
          <Figure name={s.seats.available}>{usage.available.toLocaleString()}</Figure>
          <Figure name={s.seats.cost}>
            {money(pricing.amount, pricing.currency)} <span className="muted">{s.seats.aMonth}</span>
          </Figure>
        </dl>
        <table className="table">
          <caption className="sr-only">{s.seats.tiers}</caption>
          <tbody>
            {pricing.tiers.map(({ upTo, unitAmount }) => (
              <tr key={upTo ?? 0}>
                <th scope="row">{upTo === null ? s.seats.further : s.seats.upTo(upTo)}</th>
                <td className="tabular number">{s.seats.perMonth(money(unitAmount, pricing.currency))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section id="change-seats" title={s.seats.change}>
        {member.role === 'owner' ? (
          <Change key={usage.purchased} seats={usage.purchased} />
        ) : (
          <p className="muted">{s.seats.ownerOnly}</p>
        )}
      </Section>
    </>
  );
}
