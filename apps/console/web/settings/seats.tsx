/** Shows the plan, and previews the cost of another number of seats. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Proration } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { LoadError, Loading } from '../components/states.tsx';
import { formatDay } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { LabeledFigure, FormField, Section, useSettingsWrite } from './components.tsx';
import { seatsQuery } from './queries.ts';

const formatMoney = (minorUnits: number, currency: string): string => {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  // Amounts are in minor units of the currency.
  return format.format(minorUnits / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};

const ProrationPreview = ({ proration }: { readonly proration: Proration }) => (
  <table className="table" aria-live="polite">
    <tbody>
      {proration.lines.map(({ kind, seats, days, amount }) => (
        <tr key={kind}>
          <th scope="row">{texts.seats.lines[kind](seats, days)}</th>
          <td className="tabular number">{formatMoney(amount, proration.currency)}</td>
        </tr>
      ))}
      <tr className="total">
        <th scope="row">
          {texts.seats.total}, {texts.seats.until(formatDay(proration.to))}
        </th>
        <td className="tabular number">{formatMoney(proration.amount, proration.currency)}</td>
      </tr>
    </tbody>
  </table>
);

function ChangeSeatsForm({ seats }: { readonly seats: number }) {
  const { billing } = useClient();
  const [wanted, setWanted] = useState(String(seats));
  const [proration, setProration] = useState<Proration | null>(null);
  const { isBusy, run } = useSettingsWrite();
  const count = Number(wanted);
  const isOther = Number.isInteger(count) && count > 0 && count !== seats;
  const preview = (): Promise<boolean> =>
    run(async () => setProration((await billing.updateSeats({ seats: count, preview: true })).proration));
  const apply = async (): Promise<void> => {
    if (await run(() => billing.updateSeats({ seats: count }), texts.seats.applied(count)))
      setProration(null);
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
        <FormField name={texts.seats.seats}>
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
        </FormField>
      </div>
      {proration !== null && <ProrationPreview proration={proration} />}
      <div className="form-foot">
        {proration === null ? (
          <button type="submit" className="button" disabled={isBusy || !isOther}>
            {texts.seats.preview}
          </button>
        ) : (
          <button
            type="button"
            className="button"
            data-kind="main"
            disabled={isBusy}
            onClick={() => void apply()}
          >
            {texts.seats.apply}
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
      <Loading label={texts.loading} rows={3} />
    ) : (
      <LoadError error={seats.error} onRetry={() => void seats.refetch()} />
    );
  const { pricing, usage, entitlement } = seats.data;
  return (
    <>
      <Section id="seats" title={texts.sections.seats} intro={texts.seats.intro}>
        <dl className="figures">
          <LabeledFigure name={texts.seats.plan}>
            {texts.seats.plans[entitlement.plan]}{' '}
            <span className="muted">{texts.seats.statuses[entitlement.status]}</span>
          </LabeledFigure>
          <LabeledFigure name={texts.seats.bought}>{usage.purchased.toLocaleString()}</LabeledFigure>
          <LabeledFigure name={texts.seats.held}>{usage.used.toLocaleString()}</LabeledFigure>
          <LabeledFigure name={texts.seats.pending}>{usage.pending.toLocaleString()}</LabeledFigure>
          <LabeledFigure name={texts.seats.available}>{usage.available.toLocaleString()}</LabeledFigure>
          <LabeledFigure name={texts.seats.cost}>
            {formatMoney(pricing.amount, pricing.currency)}{' '}
            <span className="muted">{texts.seats.aMonth}</span>
          </LabeledFigure>
        </dl>
        <table className="table">
          <caption className="sr-only">{texts.seats.tiers}</caption>
          <tbody>
            {pricing.tiers.map(({ upTo, unitAmount }) => (
              <tr key={upTo ?? 0}>
                <th scope="row">{upTo === null ? texts.seats.further : texts.seats.upTo(upTo)}</th>
                <td className="tabular number">
                  {texts.seats.perMonth(formatMoney(unitAmount, pricing.currency))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section id="change-seats" title={texts.seats.change}>
        {member.role === 'owner' ? (
          <ChangeSeatsForm key={usage.purchased} seats={usage.purchased} />
        ) : (
          <p className="muted">{texts.seats.ownerOnly}</p>
        )}
      </Section>
    </>
  );
}
