ALTER TABLE `subscriptions` ADD `earlier_plan_type` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `earlier_hours` real;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `earlier_until` integer;