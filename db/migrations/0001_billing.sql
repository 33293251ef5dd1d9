CREATE TABLE `billing_records` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`plan_type` text,
	`included_hours` real NOT NULL,
	`trial` integer NOT NULL,
	`seconds` integer NOT NULL,
	`amount_cents` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_record_per_period` ON `billing_records` (`user_id`,`period_start`);--> statement-breakpoint
CREATE TABLE `checkouts` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`plan_type` text NOT NULL,
	`stripe_session_id` text,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`check_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_stripe_session_id_unique` ON `checkouts` (`stripe_session_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_open_checkout_per_user` ON `checkouts` (`user_id`) WHERE status = 'open';--> statement-breakpoint
CREATE INDEX `checkouts_to_check` ON `checkouts` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `invoices` (
	`record_id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`step` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`last_error` text,
	`stripe_invoice_id` text,
	`status` text,
	`due_at` integer,
	`paid_at` integer,
	`hosted_url` text,
	`pdf_url` text,
	`synced_at` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`record_id`) REFERENCES `billing_records`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_stripe_invoice_id_unique` ON `invoices` (`stripe_invoice_id`);--> statement-breakpoint
CREATE INDEX `invoices_by_user` ON `invoices` (`user_id`);--> statement-breakpoint
CREATE INDEX `invoices_due` ON `invoices` (`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `stripe_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `cancel_at` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `synced_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `check_at` integer;--> statement-breakpoint
CREATE INDEX `subscriptions_by_user` ON `subscriptions` (`user_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_to_check` ON `subscriptions` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `billed_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `billing_due_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `users_billing_due` ON `users` (`billing_due_at`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_meter` ON `server_sessions` (`user_id`,`metered_until`);