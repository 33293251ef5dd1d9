UPDATE `invoices` SET `next_at` = unixepoch() * 1000 + 86400000 -- Paid before we kept numbers: we look once more, in a day, when no earlier version runs.
  WHERE `number` IS NULL AND `step` = 'sent' AND `status` IN ('paid', 'void') AND `next_at` IS NULL;--> statement-breakpoint
UPDATE `plan_payments` SET `check_at` = unixepoch() * 1000 + 86400000
  WHERE `number` IS NULL AND `status` = 'paid' AND `check_at` IS NULL;
