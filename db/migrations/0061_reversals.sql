ALTER TABLE `invoices` ADD `refunded_cents` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `invoices` ADD `dispute` text;--> statement-breakpoint
ALTER TABLE `invoices` ADD `reversal_asked_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `plan_payments` ADD `refunded_cents` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `plan_payments` ADD `dispute` text;--> statement-breakpoint
ALTER TABLE `plan_payments` ADD `reversal_asked_at` integer DEFAULT 0 NOT NULL;