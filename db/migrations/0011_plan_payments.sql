CREATE TABLE `plan_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`stripe_invoice_id` text NOT NULL,
	`plan_type` text,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`amount_cents` integer NOT NULL,
	`remaining_cents` integer NOT NULL,
	`status` text NOT NULL,
	`due_at` integer,
	`paid_at` integer,
	`hosted_url` text,
	`pdf_url` text,
	`synced_at` integer NOT NULL,
	`check_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `plan_payments_stripe_invoice_id_unique` ON `plan_payments` (`stripe_invoice_id`);--> statement-breakpoint
CREATE INDEX `plan_payments_by_user` ON `plan_payments` (`user_id`,`period_start`);--> statement-breakpoint
CREATE INDEX `plan_payments_to_check` ON `plan_payments` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
UPDATE `subscriptions` SET `check_at` = 0 WHERE `stripe_subscription_id` IS NOT NULL AND `ended_at` IS NOT NULL;
