import { LEAST_PAYMENT } from './rules/debts.ts'

/** The groups with places of a size that someone is one of, at a moment. */
const groupsOf = (
  user: string,
  gpus: string,
  at: string,
) => `(SELECT coalesce(group_concat(one.id), '') FROM line_groups AS one
  JOIN line_group_people AS own ON own.group_id = one.id JOIN users AS account ON account.email = own.email
  WHERE account.id = ${user} AND one.gpus = ${gpus} AND one.starts_at <= ${at} AND one.ends_at > ${at})`

/**
 * Triggers that write down what a look after each step could miss: a payment forgets the warning before a stop. Mails
 * count only for open accounts, and a `start: …` is one that should have been refused: a plan that turns unpaid may be a
 * moment late.
 */
export const WITNESSES = `
  CREATE TABLE witnessed (what TEXT NOT NULL, id TEXT NOT NULL);
  CREATE TRIGGER suspension AFTER UPDATE ON users WHEN old.suspended_at IS NULL AND new.suspended_at IS NOT NULL
    AND new.closed_at IS NULL BEGIN INSERT INTO witnessed VALUES ('suspension', new.id); END;
  CREATE TRIGGER warning AFTER UPDATE ON users WHEN old.stop_warned_at IS NULL AND new.stop_warned_at IS NOT NULL
    AND new.closed_at IS NULL BEGIN INSERT INTO witnessed VALUES ('warning', new.id); END;
  CREATE TRIGGER trial_warning AFTER UPDATE ON server_sessions
    WHEN new.trial_warned_at IS NOT NULL AND new.trial_warned_at IS NOT old.trial_warned_at
    AND new.must_stop_at <= coalesce(new.ends_at, 9e15) BEGIN
    INSERT INTO witnessed SELECT 'trial warning', id FROM users WHERE id = new.user_id AND closed_at IS NULL; END;
  CREATE TRIGGER end_warning AFTER UPDATE ON server_sessions
    WHEN new.trial_warned_at IS NOT NULL AND new.trial_warned_at IS NOT old.trial_warned_at
    AND new.ends_at < coalesce(new.must_stop_at, 9e15) BEGIN
    INSERT INTO witnessed VALUES ('warned of ' || new.ends_at || ' at ' || new.trial_warned_at, new.id);
    INSERT INTO witnessed SELECT 'end warning', id FROM users WHERE id = new.user_id AND closed_at IS NULL
      AND NOT new.plan_ends; END;
  CREATE TRIGGER mail AFTER INSERT ON outbox
    BEGIN INSERT INTO witnessed SELECT 'mail: ' || new.subject, id FROM users WHERE email = new.recipient; END;
  CREATE TRIGGER files_mail AFTER INSERT ON outbox WHEN new.cause LIKE 'files-end:%' OR new.cause LIKE 'files-unpaid:%'
    OR new.cause LIKE 'files-over:%'
    BEGIN INSERT INTO witnessed VALUES ('mailed ' || new.created_at || ' ' || new.cause, new.recipient); END;
  CREATE TRIGGER mail_sent_again AFTER UPDATE ON outbox WHEN old.sent_at IS NOT NULL AND new.sent_at IS NOT NULL
    BEGIN INSERT INTO witnessed VALUES ('sent twice: ' || new.subject, new.id); END;
  CREATE TRIGGER start AFTER INSERT ON server_sessions BEGIN
    INSERT INTO witnessed SELECT 'start: closed', id FROM users WHERE id = new.user_id AND closed_at IS NOT NULL;
    INSERT INTO witnessed SELECT 'start: suspended', id FROM users WHERE id = new.user_id AND suspended_at IS NOT NULL;
    INSERT INTO witnessed SELECT 'start: debtor', me.id FROM users AS me
      JOIN users AS closed ON closed.mailbox = me.mailbox AND closed.closed_at IS NOT NULL
      JOIN invoices ON invoices.user_id = closed.id AND invoices.created_at < me.confirmed_at - 3600000
      WHERE me.id = new.user_id AND invoices.status IN ('open', 'uncollectible')
        AND invoices.held_at IS NULL AND (invoices.processing_at IS NULL OR invoices.debit_returned_at IS NOT NULL)
        AND coalesce(invoices.remaining_cents, ${LEAST_PAYMENT}) >= ${LEAST_PAYMENT};
    INSERT INTO witnessed SELECT 'start: held', id FROM users WHERE id = new.user_id AND held_at IS NOT NULL;
    INSERT INTO witnessed SELECT 'start: unpaid', user_id FROM subscriptions WHERE user_id = new.user_id
      AND ended_at IS NULL AND coalesce(cancel_at, 9e15) > new.requested_at AND status IN ('past_due', 'unpaid') AND NOT EXISTS (SELECT 1 FROM witnessed
      WHERE what LIKE 'unpaid since %' AND id = user_id AND CAST(substr(what, 14) AS INTEGER) > new.requested_at - 60000);
  END;
  CREATE TRIGGER world_at_start AFTER INSERT ON server_sessions BEGIN
    INSERT INTO witnessed SELECT 'beyond ' || plan || ': ' || new.environment || ', ' || new.vehicle, new.id FROM (
      SELECT coalesce((SELECT plan_type FROM subscriptions WHERE user_id = new.user_id AND ended_at IS NULL), 'none') AS plan)
      WHERE (new.vehicle = 'multi' AND plan NOT IN ('premium', 'enterprise')) OR NOT EXISTS (
        SELECT 1 FROM environments WHERE name = new.environment AND retired_at IS NULL AND instr(plans,
          '"' || CASE plan WHEN 'none' THEN 'basic' ELSE plan END || '"') > 0);
  END;
  CREATE TRIGGER given AFTER UPDATE OF given_at ON line WHEN old.given_at IS NULL AND new.given_at IS NOT NULL
    AND new.session_id IS NULL BEGIN
    INSERT INTO witnessed SELECT 'line ' || new.gpus || CASE WHEN ${groupsOf('new.user_id', 'new.gpus', 'new.given_at')} <> '' THEN ' group'
      ELSE '' END || CASE WHEN new.trial THEN ' trial' ELSE ' paid' END
      || CASE WHEN sum(trial <> new.trial) > 0 THEN ', contested' ELSE '' END
      || ', ahead ' || coalesce(sum(trial = new.trial AND queued_at < new.queued_at), 0), new.user_id
      FROM line WHERE gpus = new.gpus AND user_id <> new.user_id AND given_at IS NULL AND session_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM server_sessions WHERE user_id = line.user_id AND ended_at IS NULL)
        AND EXISTS (SELECT 1 FROM users WHERE id = line.user_id AND closed_at IS NULL AND suspended_at IS NULL AND held_at IS NULL)
        AND (${groupsOf('new.user_id', 'new.gpus', 'new.given_at')} IN ('', ${groupsOf('line.user_id', 'new.gpus', 'new.given_at')}));
  END;
  CREATE TRIGGER moved AFTER UPDATE OF reserved_by ON servers WHEN old.reserved_by IS NULL AND new.reserved_by LIKE 'ses_%'
    AND EXISTS (SELECT 1 FROM server_sessions WHERE id = new.reserved_by)
    AND NOT EXISTS (SELECT 1 FROM line WHERE session_id = new.reserved_by) BEGIN
    INSERT INTO witnessed SELECT 'took a free place of ' || group_concat(line.user_id), run.id FROM line
      JOIN server_sessions AS run ON run.id = new.reserved_by
      WHERE gpus = new.gpus AND given_at IS NULL AND session_id IS NULL
        AND ${groupsOf('run.user_id', 'new.gpus', 'new.reserved_at')} IN ('', ${groupsOf('line.user_id', 'new.gpus', 'new.reserved_at')})
      GROUP BY run.id;
  END;
  CREATE TRIGGER taken AFTER INSERT ON server_sessions
    WHEN NOT EXISTS (SELECT 1 FROM line WHERE user_id = new.user_id AND given_at IS NOT NULL) BEGIN
    INSERT INTO witnessed SELECT 'took a free place of ' || group_concat(line.user_id), new.id FROM line
      JOIN servers ON servers.id = new.server_id
      WHERE line.gpus = servers.gpus AND given_at IS NULL AND session_id IS NULL
        AND ${groupsOf('new.user_id', 'servers.gpus', 'new.requested_at')} IN ('', ${groupsOf('line.user_id', 'servers.gpus', 'new.requested_at')})
      GROUP BY new.id;
  END;
  CREATE TRIGGER beside_groups BEFORE UPDATE OF reserved_by ON servers WHEN new.reserved_by IS NOT NULL
    AND new.reserved_by IS NOT old.reserved_by AND coalesce(old.reserved_by, '') NOT LIKE 'user_%' BEGIN
    INSERT INTO witnessed SELECT 'took one of ' || (SELECT count(*) FROM servers WHERE gpus = new.gpus AND id <> new.id
        AND reserved_by IS NULL AND retired_at IS NULL AND set_aside_until <= new.reserved_at) || ' beside groups: '
        || json_group_array(json_object('at', g.made_at, 'lack', g.places - (SELECT count(*) FROM line_group_people AS p
          JOIN users AS u ON u.email = p.email WHERE p.group_id = g.id AND (EXISTS (SELECT 1 FROM server_sessions
            WHERE user_id = u.id AND ended_at IS NULL) OR EXISTS (SELECT 1 FROM servers AS h WHERE h.reserved_by = u.id))),
          'people', (SELECT group_concat(u.id) FROM line_group_people AS p JOIN users AS u ON u.email = p.email
            WHERE p.group_id = g.id))), new.reserved_by
      FROM line_groups AS g
      WHERE g.gpus = new.gpus AND g.starts_at <= new.reserved_at AND g.ends_at > new.reserved_at HAVING count(*) > 0;
  END;
  CREATE TRIGGER unpaid AFTER UPDATE ON subscriptions WHEN new.status IN ('past_due', 'unpaid')
    AND old.status NOT IN ('past_due', 'unpaid')
    BEGIN INSERT INTO witnessed VALUES ('unpaid since ' || new.synced_at, new.user_id); END;
  CREATE TRIGGER late_plan AFTER INSERT ON subscriptions WHEN new.stripe_subscription_id IS NOT NULL
    BEGIN INSERT INTO witnessed SELECT 'late lesson', id FROM users
      WHERE id = new.user_id AND (billed_until > new.anchor OR new.paid_until IS NOT NULL); END;
  CREATE TRIGGER late_change AFTER UPDATE ON subscriptions
    BEGIN INSERT INTO witnessed SELECT 'late lesson', id FROM users WHERE id = new.user_id AND (new.paid_until IS NOT NULL
      OR (old.ended_at IS NULL AND billed_until > new.ended_at)
      OR (new.upgraded_at IS NOT old.upgraded_at AND billed_until > coalesce(new.upgraded_at, 0))
      OR (new.plan_type <> old.plan_type AND new.upgraded_at IS old.upgraded_at
        AND billed_until > coalesce(new.earlier_until, 0))); END;
  CREATE TRIGGER loss AFTER INSERT ON jobs WHEN new.error_code = 'instance_lost' BEGIN
    INSERT INTO witnessed SELECT 'loss after ' || unseen_looks || ' looks, ' || (SELECT count(*) FROM server_sessions
      WHERE ended_at IS NULL AND instance_id IS NOT NULL AND unseen_since < new.created_at - 60000) || ' unseen', id
      FROM server_sessions WHERE id = new.session_id; END;
  CREATE TRIGGER debt_stop AFTER INSERT ON jobs WHEN new.error_code = 'suspended' BEGIN
    INSERT INTO witnessed SELECT 'stopped for debt ' || (new.created_at - coalesce(stop_warned_at, new.created_at)),
      new.session_id FROM users WHERE id = new.user_id; END;
  CREATE TRIGGER take_up AFTER UPDATE ON jobs WHEN old.status = 'queued' AND new.status = 'running'
    BEGIN INSERT INTO witnessed VALUES ('taken up after ' || (new.updated_at - old.created_at), new.id); END;
  CREATE TRIGGER bill AFTER INSERT ON billing_records WHEN new.corrects IS NULL BEGIN
    INSERT INTO witnessed SELECT 'billed beside an open page', new.id FROM checkouts WHERE user_id = new.user_id
      AND status = 'open' AND created_at < new.period_end AND new.created_at < created_at + 25 * 3600000 - 60000; END;
  CREATE TRIGGER event AFTER INSERT ON webhook_deliveries
    BEGIN INSERT INTO witnessed VALUES ('event: ' || new.endpoint_id || ' ' || new.event_id, new.user_id); END;
  CREATE TRIGGER answer_event AFTER UPDATE ON server_sessions WHEN old.billed_from IS NULL AND new.billed_from IS NOT NULL
    BEGIN INSERT INTO witnessed SELECT 'event due: ' || id || ' server_running ' || new.id, user_id
      FROM webhook_endpoints WHERE user_id = new.user_id AND off_at IS NULL; END;
  CREATE TRIGGER end_event AFTER UPDATE ON server_sessions WHEN old.ended_at IS NULL AND new.ended_at IS NOT NULL
    BEGIN INSERT INTO witnessed SELECT 'event due: ' || id || ' server_stopped|server_failed|server_exited ' || new.id, user_id
      FROM webhook_endpoints WHERE user_id = new.user_id AND off_at IS NULL; END;
  CREATE TRIGGER bill_event AFTER INSERT ON billing_records WHEN new.corrects IS NULL
    BEGIN INSERT INTO witnessed SELECT 'event due: ' || id || ' bill_closed ' || new.id, user_id
      FROM webhook_endpoints WHERE user_id = new.user_id AND off_at IS NULL; END;
  CREATE TRIGGER webhook_off AFTER UPDATE ON webhook_endpoints WHEN new.off_at IS NOT NULL
    BEGIN INSERT INTO witnessed VALUES ('webhook off', new.id); END;
  CREATE TRIGGER held AFTER UPDATE ON users WHEN (old.held_at IS NULL) <> (new.held_at IS NULL)
    BEGIN INSERT INTO witnessed VALUES (CASE WHEN new.held_at IS NULL THEN 'act: lift' ELSE 'act: suspend' END, new.id); END;
  CREATE TRIGGER unseen AFTER UPDATE ON server_sessions WHEN new.unseen_looks > old.unseen_looks
    BEGIN INSERT INTO witnessed VALUES ('unseen ' || new.unseen_looks, new.id); END;
  CREATE TRIGGER asked AFTER INSERT ON outbox WHEN new.cause LIKE 'ready:%' OR new.cause LIKE 'due_soon:%'
    OR new.cause LIKE 'charge_failed:%' OR new.cause LIKE 'charge_asks:%' BEGIN
    INSERT INTO witnessed SELECT 'asked while a bank pays', record_id FROM invoices
      WHERE record_id = substr(new.cause, instr(new.cause, ':') + 1) AND processing_at IS NOT NULL; END;
  CREATE TRIGGER debit_days AFTER UPDATE ON invoices WHEN old.processing_at IS NOT NULL AND new.processing_at IS NULL
    AND new.held_ms > old.held_ms BEGIN INSERT INTO witnessed VALUES ('days after a debit', new.record_id); END;
  CREATE TRIGGER old_invoice AFTER UPDATE ON invoices WHEN new.synced_at < old.synced_at
    BEGIN INSERT INTO witnessed VALUES ('older answer', new.record_id); END;
  CREATE TRIGGER old_plan AFTER UPDATE ON subscriptions WHEN new.synced_at < old.synced_at
    BEGIN INSERT INTO witnessed VALUES ('older answer', new.id); END;
`
