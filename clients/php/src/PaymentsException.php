<?php

declare(strict_types=1);

namespace ExternalPayments;

/** Any failure that this library throws, except for wrong arguments. */
interface PaymentsException extends \Throwable
{
}
