ALTER TABLE `invoices` ADD `number` text;--> statement-breakpoint
ALTER TABLE `invoices` ADD `bill_to` text;--> statement-breakpoint
ALTER TABLE `plan_payments` ADD `number` text;