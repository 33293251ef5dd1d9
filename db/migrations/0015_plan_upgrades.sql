ALTER TABLE `subscriptions` ADD `upgraded_at` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `upgraded_from` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `next_plan_type` text;